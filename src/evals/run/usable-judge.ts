import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalConfigurable } from "../../protocol/evals/api.ts";
import type { AgentEvalSuite, EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { barOf, judgeCertification, type RecordedJudge, recordedJudge } from "../calibration/judge-certification.ts";
import type { EvalPlan } from "./eval-plan.ts";
import type { EvalServices } from "./eval-run.ts";

export interface Judged {
  readonly suite: AgentEvalSuite;
  readonly tasks: readonly EvalTask[];
  readonly modes: readonly EvalMode[];
  readonly configurable: EvalConfigurable;
}

/**
 * The judge of an evaluation; undefined when none is needed. Throws `judge_not_certified` with each reason where a certificate is
 * required. An evaluation in which no score comes from a judge needs none.
 */
export async function usableJudge(
  host: Pick<Host, "store" | "nowMs">,
  { judge }: EvalServices,
  visible: Visibility,
  { suite, tasks, modes, configurable }: Judged,
): Promise<RecordedJudge | undefined> {
  const hasRubric = tasks.some(({ expected }) => expected.kind === "rubric");
  const isAsked = hasRubric || modes.includes("adversarial");
  const recorded = judge === undefined || !isAsked ? undefined : recordedJudge(judge);
  const bar = barOf(configurable.requireCertificate);
  if (bar === undefined || !hasRubric) return recorded;
  const { problems } = await judgeCertification(host, visible, suite, recorded, bar);
  if (problems.length === 0) return recorded;
  const problem = problems.map((one) => one.problem).join(" ");
  throw new AppError("judge_not_certified", { problem, problems: problems.map((one) => ({ ...one })) });
}

/** A run that was begun without a judge is not gone on with by one either. */
export function isSameJudge(
  { judge: begun }: Pick<EvalPlan, "judge">,
  { judge }: Pick<EvalServices, "judge">,
): boolean {
  if (begun === undefined) return true;
  const now = judge === undefined ? undefined : recordedJudge(judge);
  return now?.promptSha256 === begun.promptSha256 && now.modelSha256 === begun.modelSha256;
}
