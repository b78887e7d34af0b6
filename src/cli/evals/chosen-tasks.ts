import { closestTo } from "../../protocol/closest-to.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { Client } from "../client/client.ts";
import { split } from "../files/arguments.ts";
import { reportOf } from "./eval-backend.ts";
import { evalNamed } from "./latest-eval.ts";

interface Choice {
  readonly task: readonly string[];
  readonly failedIn: string | undefined;
}

/** The tasks that somebody chose by name, by pattern or by how they ended before. */
export async function chosenTasks(
  client: Client,
  { suiteId, tasks }: Pick<AgentEvalSuite, "suiteId" | "tasks">,
  { task, failedIn }: Choice,
): Promise<string[]> {
  const all = tasks.map(({ taskId }) => taskId);
  const failed = failedIn === undefined ? undefined : new Set(await failedTasks(client, suiteId, failedIn));
  const patterns = split(task).map((text) => ({ text, pattern: patternOf(text) }));
  if (task.length > 0 && patterns.length === 0) throw refuse("--task names no task");
  for (const { text, pattern } of patterns) if (!all.some((taskId) => pattern.test(taskId))) throw unknown(text, all);
  const chosen = all.filter(
    (taskId) =>
      (patterns.length === 0 || patterns.some(({ pattern }) => pattern.test(taskId))) &&
      (failed === undefined || failed.has(taskId)),
  );
  if (chosen.length > 0) return chosen;
  throw refuse(
    patterns.length === 0
      ? `none of the tasks that did not pass in ${failedIn} is in the suite`
      : "no task is left to evaluate",
  );
}

async function failedTasks(client: Client, suiteId: string, named: string): Promise<string[]> {
  const runId = await evalNamed(client, named, { suiteId, status: "completed" });
  const report = await reportOf(client, runId);
  if (report.suiteId !== suiteId) throw refuse(`${runId} is of suite ${report.suiteId}, and not of ${suiteId}`);
  if (!report.complete) throw refuse(`${runId} did not complete; name its tasks with --task`);
  const failed = report.tasks.filter(({ passed }) => !passed).map(({ taskId }) => taskId);
  if (failed.length === 0) throw refuse(`every task passed in ${runId}; nothing is left to evaluate`);
  return failed;
}

/** An asterisk stands for any characters. */
function patternOf(text: string): RegExp {
  const parts = text.split(/\*+/).map((part) => part.replace(/[.\\+?^${}()|[\]]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}

function unknown(text: string, all: readonly string[]): AppError {
  const nearest = closestTo(text, all);
  const meant = nearest === undefined ? "" : `. Did you mean ${nearest}?`;
  return refuse(`the suite has no task ${text}${meant}`);
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
