import { AppError } from "../../protocol/errors.ts";
import type { Call } from "../program/command.ts";
import { orNearest } from "../program/nearest-name.ts";
import { withBackend } from "./choose-backend.ts";
import type { EVAL_FILES_FLAGS } from "./commands.ts";
import { reportOf } from "./eval-backend.ts";
import { checkFiles, jsonText, writeFiles } from "./eval-files.ts";
import { evalNamed, LATEST } from "./latest-eval.ts";
import { NO_DEMANDS, outcomeOf } from "./outcome-of.ts";
import { reportText } from "./report-text.ts";
import { taskText } from "./task-text.ts";

export async function evalShow(call: Call<typeof EVAL_FILES_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  checkFiles(flags);
  const [, taskId] = args;
  if (taskId !== undefined) return showTask(call, taskId);
  await withBackend(
    call,
    async (backend) => {
      const outcome = await outcomeOf(backend, await evalNamed(backend.client, args[0] ?? LATEST), NO_DEMANDS);
      if (json) io.out(jsonText(outcome, flags));
      else io.out(reportText(outcome, io.paint));
      await writeFiles(outcome, flags);
    },
    { reads: true },
  );
}

/** With one task there is nothing for the files to hold. */
async function showTask(call: Call<typeof EVAL_FILES_FLAGS>, taskId: string): Promise<undefined> {
  const { args, flags, json, io } = call;
  if ([flags.output, flags.junit, flags.md, flags.sarif].some((file) => file !== undefined)) {
    throw new AppError("unusable_input", {
      problem: "--output, --junit, --md and --sarif go without TASK; use --json for one task",
    });
  }
  await withBackend(
    call,
    async ({ client }) => {
      const runId = await evalNamed(client, args[0] ?? LATEST);
      const names = async () => (await reportOf(client, runId)).tasks.map((task) => task.taskId);
      const task = await orNearest(client.evals.task(runId, taskId), { task: { name: taskId, names } });
      io.out(json ? JSON.stringify(task) : taskText(task, io.paint));
    },
    { reads: true },
  );
}
