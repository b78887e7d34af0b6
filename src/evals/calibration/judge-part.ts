import type { Host } from "../../engine/host.ts";
import type { EvalReport, EvalReportJudge } from "../../protocol/evals/api.ts";
import type { Rate } from "../../protocol/evals/eval-statistics.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { CertificateRecord } from "../../protocol/evals/judge-certificate-api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { correctedRate, meanOf } from "../../statistics/rates.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import type { TaskOutcome } from "../run/task-result.ts";
import { judgeCertification, rubricsByTask } from "./judge-certification.ts";

/** The judge's part of a report: whether the judge is certified now, and the corrected rate. */
export async function judgePart(
  host: Pick<Host, "store" | "nowMs">,
  visible: Visibility,
  { judge }: EvalPlan,
  suite: AgentEvalSuite,
  results: readonly TaskOutcome[],
): Promise<Pick<EvalReport, "judge">> {
  const rubrics = rubricsByTask(suite);
  const judged = results.filter(({ taskId }) => rubrics.has(taskId));
  if (judge === undefined || judged.length === 0) return {};
  const { certificate, problems } = await judgeCertification(host, visible, suite, judge);
  const observedPassRate = observed(judged);
  const part: EvalReportJudge = {
    model: judge.model,
    tasks: observedPassRate.count,
    ...(certificate === undefined ? {} : { certificateId: certificate.certificateId, ...kappaOf(certificate) }),
    problems: [...problems],
    observedPassRate,
    ...(certificate === undefined || problems.length > 0 ? {} : corrected(observedPassRate, certificate)),
  };
  return { judge: part };
}

function kappaOf({ certificate }: CertificateRecord): Pick<EvalReportJudge, "kappa"> {
  const { value } = certificate.report.kappa;
  return value === null ? {} : { kappa: value };
}

/** Trials of one task are not independent of each other, so rates are by task first. */
function observed(results: readonly TaskOutcome[]): Rate {
  const shares = results.flatMap(({ trials }) => {
    const scored = trials.filter(({ score }) => score !== undefined);
    return scored.length === 0 ? [] : [scored.filter(({ passed }) => passed).length / scored.length];
  });
  if (shares.length === 0) return { value: null, reason: "nothing_counted", count: 0 };
  return { value: meanOf(shares), count: shares.length };
}

function corrected(
  { value, count }: Rate,
  { certificate }: CertificateRecord,
): Pick<EvalReportJudge, "correctedPassRate"> {
  const { sensitivity, specificity } = certificate.report;
  if (value === null || sensitivity.value === null || specificity.value === null) return {};
  const judge = { sensitivity: sensitivity.value, specificity: specificity.value };
  return { correctedPassRate: correctedRate({ value, count }, judge) };
}
