import { figure } from "../../formats/evals/eval-outcome.ts";
import type { EvalEntry, EvalListQuery } from "../../protocol/evals/eval-baseline.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { withBackend } from "./choose-backend.ts";
import type { EVAL_LIST_FLAGS } from "./commands.ts";
import type { EvalBackend } from "./eval-backend.ts";

const SHOWN = 50;

export async function evalList(call: Call<typeof EVAL_LIST_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const query = { limit: SHOWN, ...(flags.suite === undefined ? {} : { suiteId: flags.suite }) };
  const { evals, interrupted } = await withBackend(call, (backend) => listed(backend, query), { reads: true });
  if (json) io.out(JSON.stringify({ evals }));
  else if (evals.length === 0) io.err(nothing(flags.suite));
  else
    io.out(
      formatTable(
        ["RUN", "SUITE", "AGENT", "STARTED", "PASSED", "RESULT"],
        evals.map((entry) => rowOf(entry, interrupted)),
        io.paint,
      ),
    );
}

async function listed({ client, isInterrupted }: EvalBackend, query: EvalListQuery) {
  const { evals } = await client.evals.list(query);
  const interrupted = new Set<string>();
  for (const entry of evals) if (await isInterrupted(entry)) interrupted.add(entry.runId);
  return { evals, interrupted };
}

function rowOf(entry: EvalEntry, interrupted: ReadonlySet<string>): string[] {
  const { runId, suiteId, suiteVersion, agentId, resolvedAgentVersion, startedAt, passedCount, taskCount } = entry;
  return [
    runId,
    `${suiteId}@${suiteVersion}`,
    `${agentId}@${resolvedAgentVersion}`,
    startedAt.slice(0, 19).replace("T", " "),
    passedCount === undefined ? "–" : `${passedCount}/${taskCount}`,
    interrupted.has(runId) ? "interrupted; eval run --resume goes on with it" : resultOf(entry),
  ].map(printable);
}

function nothing(suite: string | undefined): string {
  const which = suite === undefined ? "No evaluations yet." : `No evaluations with suite ${printable(suite)} yet.`;
  return `${which} Start one with: assay eval run`;
}

/** The bars of the suite are one thing and the baseline another: whoever reads only this line must not take one for both. */
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
