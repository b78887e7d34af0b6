import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { CertificateProblem } from "../../protocol/evals/judge-calibration.ts";
import type { Judge, JudgeIdentity } from "../judge/judge.ts";
import { type CertifiedJudge, hashesOfJudge, hashOfModel } from "./certificate.ts";
import { rubricsOf } from "./suite-rubrics.ts";

/** A judge as a run remembers it. */
export interface RecordedJudge {
  readonly model: string;
  readonly promptSha256: string;
  readonly modelSha256: string;
  /** Whether a change of the judge is visible: for a program or an endpoint only by the version that its entry names. */
  readonly versioned: boolean;
}

export function recordedJudge({ identity }: Pick<Judge, "identity">): RecordedJudge {
  const { model, promptHash, fingerprint } = identity;
  return {
    model,
    promptSha256: promptHash,
    modelSha256: hashOfModel(identity),
    versioned: fingerprint !== undefined,
  };
}

export function certifiedJudge(
  { model, promptHash, fingerprint }: JudgeIdentity,
  suite: AgentEvalSuite,
): CertifiedJudge {
  return {
    promptSha256: promptHash,
    model,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    rubric: rubricsOf(suite),
  };
}

export function hashesOf(judge: RecordedJudge, suite: AgentEvalSuite) {
  const { promptSha256, modelSha256, model } = judge;
  const { rubricSha256 } = hashesOfJudge({ promptSha256, model, rubric: rubricsOf(suite) });
  return { promptSha256, modelSha256, rubricSha256 };
}

export const UNVERSIONED: CertificateProblem = {
  code: "judge_unversioned",
  problem:
    "It is unknown whether the judge has changed since its calibration; give its entry in the agents file a version.",
};
