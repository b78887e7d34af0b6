import type { EvalEntry } from "../../protocol/eval-baseline.ts";
import type { Call } from "../command.ts";
import { withHome } from "../evals/choose-home.ts";
import { printable } from "../printable.ts";
import type { EVAL_LIST_FLAGS } from "../specs/eval.ts";
import { formatTable } from "../table.ts";

const SHOWN = 50;

export async function evalList(call: Call<typeof EVAL_LIST_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const query = { limit: SHOWN, ...(flags.suite === undefined ? {} : { suiteId: flags.suite }) };
  const { evals } = await withHome(call, (home) => home.list(query));
  if (json) io.out(JSON.stringify({ evals }));
  else if (evals.length === 0) io.err("No evaluations yet. Start one with: assay eval run");
  else io.out(formatTable(["RUN", "SUITE", "AGENT", "STARTED", "PASSED", "RESULT"], evals.map(rowOf), io.paint));
}

function rowOf(entry: EvalEntry): string[] {
  const { runId, suiteId, suiteVersion, agentId, resolvedAgentVersion, startedAt, passedCount, taskCount } = entry;
  return [
    runId,
    `${suiteId}@${suiteVersion}`,
    `${agentId}@${resolvedAgentVersion}`,
    startedAt.slice(0, 19).replace("T", " "),
    passedCount === undefined ? "–" : `${passedCount}/${taskCount}`,
    resultOf(entry),
  ].map(printable);
}

function resultOf({ status, passed, error }: EvalEntry): string {
  if (status === "completed") return passed ? "passed" : "not passed";
  return error === undefined ? status : `${status}: ${error}`;
}
