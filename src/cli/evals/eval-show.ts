import { figure } from "../../formats/evals/eval-outcome.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { EvalEntry } from "../../protocol/evals/eval-baseline.ts";
import { printable } from "../output/printable.ts";
import { printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { orNearest } from "../program/nearest-name.ts";
import { withBackend } from "./backend.ts";
import type { EVAL_FILES_FLAGS, EVAL_LIST_FLAGS } from "./commands.ts";
import { evalNamed, LATEST } from "./latest-eval.ts";
import { checkFiles, jsonText, NO_DEMANDS, outcomeOf, reportOf, writeFiles } from "./outcome.ts";
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

/** Prints one task. The files of an evaluation have no form for one task, so they are refused. */
async function showTask(call: Call<typeof EVAL_FILES_FLAGS>, taskId: string): Promise<undefined> {
  const { args, flags, json, io } = call;
  if ([flags.output, flags.junit, flags.md, flags.sarif].some((file) => file !== undefined)) {
    throw unusableInput("--output, --junit, --md and --sarif go without TASK; use --json for one task");
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

const SHOWN = 50;

export async function evalList(call: Call<typeof EVAL_LIST_FLAGS>): Promise<undefined> {
  const { suite: suiteId } = call.flags;
  const { evals, interrupted } = await withBackend(
    call,
    async ({ client, isInterrupted }) => {
      const { evals } = await client.evals.list({ limit: SHOWN, suiteId });
      const interrupted = new Set<EvalEntry>();
      for (const entry of evals) if (await isInterrupted(entry)) interrupted.add(entry);
      return { evals, interrupted };
    },
    { reads: true },
  );
  const which = suiteId === undefined ? "" : ` with suite ${printable(suiteId)}`;
  printList(
    call,
    evals,
    { evals },
    {
      empty: `No evaluations${which} yet. Start one with: assay eval run`,
      headings: ["RUN", "SUITE", "AGENT", "STARTED", "PASSED", "RESULT"],
      row: (entry) =>
        [
          entry.runId,
          `${entry.suiteId}@${entry.suiteVersion}`,
          `${entry.agentId}@${entry.resolvedAgentVersion}`,
          entry.startedAt.slice(0, 19).replace("T", " "),
          entry.passedCount === undefined ? "–" : `${entry.passedCount}/${entry.taskCount}`,
          interrupted.has(entry) ? "interrupted; resume it with eval run --resume" : resultOf(entry),
        ].map(printable),
    },
  );
}

/** Names the bars of the suite and the change against the baseline separately: meeting the bars does not mean that nothing got worse. */
function resultOf({ status, passed, error, scoreDelta, baselineFileSha256 }: EvalEntry): string {
  if (status !== "completed") return error === undefined ? status : `${status}: ${error}`;
  const bars = passed ? "meets its bars" : "does not meet its bars";
  if (scoreDelta === undefined) return bars;
  const baseline = baselineFileSha256 === undefined ? "the baseline" : "the imported baseline";
  const change = scoreDelta === 0 ? `score as in ${baseline}` : `score ${signed(scoreDelta)} on ${baseline}`;
  return `${bars}; ${change}`;
}

function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${figure(value)}`;
}
