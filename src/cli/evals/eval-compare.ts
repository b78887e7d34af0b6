import { AppError } from "../../protocol/errors.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import { compare } from "../../statistics/comparison.ts";
import type { Client } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { orNearest } from "../program/nearest-name.ts";
import { isBaselineFile, loadBaselineFile } from "./baseline-file.ts";
import { withBackend } from "./choose-backend.ts";
import type { EVAL_COMPARE_FLAGS } from "./commands.ts";
import { type ComparedSide, comparisonText, fileSide } from "./comparison-text.ts";
import { reportOf } from "./eval-backend.ts";
import { evalNamed, LATEST } from "./latest-eval.ts";
import { isBaseline, namedBaseline } from "./named-baseline.ts";
import { demandsOf } from "./outcome-of.ts";

export async function evalCompare(call: Call<typeof EVAL_COMPARE_FLAGS>): Promise<number> {
  const { args, flags, json, io } = call;
  const [given = "", named = ""] = args;
  const { failOn, requireVerdict } = demandsOf(flags);
  if (failOn.some((what) => what !== "suspect")) throw refuse("--fail-on takes suspect here");
  const { candidate, baseline } = await withBackend(
    call,
    async ({ client }) => {
      const candidate = await wholeReport(client, await evalNamed(client, given, { status: "completed" }));
      return { candidate, baseline: await baselineSide(client, candidate, named) };
    },
    { reads: true },
  );
  const { runId } = candidate;
  if (candidate.suiteSha256 !== baseline.suiteSha256) {
    const [one, other] = [candidate, baseline].map((side) => `${side.suiteId}@${side.suiteVersion}`);
    throw refuse(
      one === other
        ? `the two were made with other tasks under the name ${one}`
        : `${runId} is of suite ${one}, and ${baseline.runId} of ${other}`,
    );
  }
  const comparison = compare({ candidate: candidate.tasks, baseline: baseline.tasks }, { seed: candidate.seed });
  const fileSha256 = baseline.fileSha256 === undefined ? {} : { baselineFileSha256: baseline.fileSha256 };
  if (json) io.out(JSON.stringify({ runId, baselineRunId: baseline.runId, ...fileSha256, comparison }));
  else io.out(comparisonText({ candidate, baseline }, comparison, io.paint));
  const { verdict } = comparison;
  if (verdict === "regressed" || (verdict === "suspect" && failOn.includes("suspect"))) return EXIT.negative;
  return requireVerdict && verdict === "not_enough_data" ? EXIT.noVerdict : EXIT.fine;
}

async function wholeReport(client: Client, runId: string): Promise<EvalReport> {
  const report = await reportOf(client, runId);
  if (report.complete) return report;
  throw refuse(`${runId} did not complete, and the tasks that happened to come first say nothing about the others`);
}

/** What was imported is there as its file only. */
async function baselineSide(client: Client, { suiteId }: EvalReport, named: string): Promise<ComparedSide> {
  if (isBaselineFile(named)) return fileSide(await loadBaselineFile(named));
  if (named.startsWith("run-")) return wholeReport(client, named);
  if (named === LATEST && !(await isBaseline(client, suiteId, named))) {
    return wholeReport(client, await evalNamed(client, named, { suiteId, status: "completed" }));
  }
  const known = { baseline: namedBaseline(client, suiteId, named) };
  const { runId, imported } = await orNearest(client.evals.baseline(suiteId, named), known);
  return imported === undefined
    ? wholeReport(client, runId)
    : fileSide(await client.evals.exportBaseline(suiteId, named));
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
