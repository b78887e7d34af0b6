import { evalJsonText } from "../../formats/eval/eval-json.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Call } from "../command.ts";
import { withHome } from "../evals/choose-home.ts";
import { checkFiles, writeFiles } from "../evals/eval-files.ts";
import type { EvalHome } from "../evals/eval-home.ts";
import { latestEval } from "../evals/latest-eval.ts";
import { NO_DEMANDS, outcomeOf, withoutContent } from "../evals/outcome-of.ts";
import { reportText } from "../evals/report-text.ts";
import { taskText } from "../evals/task-text.ts";
import { orNearest } from "../nearest.ts";
import type { EVAL_FILES_FLAGS } from "../specs/eval.ts";

export async function evalShow(call: Call<typeof EVAL_FILES_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  checkFiles(flags);
  const [, taskId] = args;
  if (taskId !== undefined) return showTask(call, taskId);
  await withHome(call, async (home) => {
    const outcome = await outcomeOf(home, args[0] ?? (await latest(home)), NO_DEMANDS);
    if (json) io.out(evalJsonText(flags.withContent ? outcome : withoutContent(outcome)).trimEnd());
    else io.out(reportText(outcome, io.paint));
    await writeFiles(outcome, flags);
  });
}

/** With one task there is nothing for the files to hold. */
async function showTask(call: Call<typeof EVAL_FILES_FLAGS>, taskId: string): Promise<undefined> {
  const { args, flags, json, io } = call;
  if ([flags.junit, flags.md, flags.sarif].some((file) => file !== undefined)) {
    throw new AppError("unusable_input", {
      problem: "--junit, --md and --sarif go without TASK; use --json for one task",
    });
  }
  await withHome(call, async (home) => {
    const [named = LATEST] = args;
    const runId = named === LATEST ? await latest(home) : named;
    const names = async () => (await home.report(runId)).tasks.map((task) => task.taskId);
    const task = await orNearest(home.task(runId, taskId), { task: { name: taskId, names } });
    io.out(json ? JSON.stringify(task) : taskText(task, io.paint));
  });
}

const LATEST = "latest";

async function latest(home: EvalHome): Promise<string> {
  const newest = await latestEval(home);
  if (newest !== undefined) return newest;
  throw new AppError("unusable_input", { problem: "there is no evaluation yet; start one with: assay eval run" });
}
