import { compare } from "../../evals/statistics/comparison.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalReport } from "../../protocol/eval-api.ts";
import type { Comparison } from "../../protocol/eval-statistics.ts";
import type { Call } from "../command.ts";
import { withHome } from "../evals/choose-home.ts";
import type { EvalHome } from "../evals/eval-home.ts";
import { demandsOf } from "../evals/outcome-of.ts";
import { EXIT } from "../exit-codes.ts";
import { printable } from "../printable.ts";
import type { EVAL_COMPARE_FLAGS } from "../specs/eval.ts";

export async function evalCompare(call: Call<typeof EVAL_COMPARE_FLAGS>): Promise<number> {
  const { args, flags, json, io } = call;
  const [runId = "", named = ""] = args;
  const { failOn, requireVerdict } = demandsOf(flags);
  if (failOn.some((what) => what !== "suspect")) throw refuse("--fail-on takes suspect here");
  const { candidate, baseline } = await withHome(call, async (home) => {
    const candidate = await home.report(runId);
    return { candidate, baseline: await home.report(await runOf(home, candidate, named)) };
  });
  if (candidate.suiteSha256 !== baseline.suiteSha256) {
    const [one, other] = [candidate, baseline].map((side) => `${side.suiteId}@${side.suiteVersion}`);
    throw refuse(
      one === other
        ? `the two were made with other tasks under the name ${one}`
        : `${runId} is of suite ${one}, and ${baseline.runId} of ${other}`,
    );
  }
  const comparison = compare({ candidate: candidate.tasks, baseline: baseline.tasks }, { seed: candidate.seed });
  if (json) io.out(JSON.stringify({ runId, baselineRunId: baseline.runId, comparison }));
  else io.out(textOf(comparison));
  const { verdict } = comparison;
  if (verdict === "regressed" || (verdict === "suspect" && failOn.includes("suspect"))) return EXIT.negative;
  return requireVerdict && verdict === "not_enough_data" ? EXIT.noVerdict : EXIT.fine;
}

async function runOf(home: EvalHome, { suiteId }: EvalReport, named: string): Promise<string> {
  return named.startsWith("run-") ? named : (await home.baseline(suiteId, named)).runId;
}

function textOf({ verdict, reason, lost, gained }: Comparison): string {
  return [
    printable(`${verdict.replaceAll("_", " ")}: ${reason}`),
    ...lost.map((taskId) => `- ${printable(taskId)}`),
    ...gained.map((taskId) => `+ ${printable(taskId)}`),
  ].join("\n");
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
