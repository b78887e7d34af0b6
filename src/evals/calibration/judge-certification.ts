import type { Host } from "../../engine/host.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { CertificateProblem } from "../../protocol/evals/judge-calibration.ts";
import {
  type CertificateBar,
  type CertificateRecord,
  DEFAULT_MIN_KAPPA,
  DEFAULT_MIN_N,
  type RequireCertificate,
} from "../../protocol/evals/judge-certificate-api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { certificateProblems } from "./certificate.ts";
import { allCertificates } from "./certificate-store.ts";
import { hashesOf, type RecordedJudge, UNVERSIONED } from "./certified-judge.ts";

export interface JudgeCertification {
  /** The one that counts, whether it holds or not. */
  readonly certificate?: CertificateRecord;
  /** Why the judge is not certified; each of them. */
  readonly problems: readonly CertificateProblem[];
}

const NO_JUDGE: CertificateProblem = {
  code: "judge_missing",
  problem: "It is not known which judge gave the verdicts.",
};

/**
 * Whether a judge is certified for the rubrics of a suite. What counts is its newest certificate, however good an older one is: who
 * calibrates until the figures please has calibrated nothing.
 */
export async function judgeCertification(
  { store, nowMs }: Pick<Host, "store" | "nowMs">,
  visible: Visibility,
  suite: AgentEvalSuite,
  judge: RecordedJudge | undefined,
  bar: CertificateBar = {},
): Promise<JudgeCertification> {
  if (judge === undefined) return { problems: [NO_JUDGE] };
  if (!judge.versioned) return { problems: [UNVERSIONED] };
  const all = await allCertificates(store, visible, suite.suiteId);
  const hashes = hashesOf(judge, suite);
  const names = ["promptSha256", "modelSha256", "rubricSha256"] as const;
  const fits = ({ certificate }: CertificateRecord) => names.every((name) => certificate.hashes[name] === hashes[name]);
  // Where none fits, the problems are those of the newest.
  const record = all.find(fits) ?? all[0];
  const problems = problemsOf(record, hashes, nowMs(), bar);
  return { ...(record === undefined ? {} : { certificate: record }), problems };
}

/** Why one certificate does not hold for a judge and a suite. */
export function problemsOf(
  record: CertificateRecord | undefined,
  hashes: ReturnType<typeof hashesOf>,
  nowMs: number,
  { minKappa = DEFAULT_MIN_KAPPA, minN = DEFAULT_MIN_N }: CertificateBar,
): CertificateProblem[] {
  return certificateProblems(record?.certificate, { hashes, now: new Date(nowMs).toISOString(), minKappa, minN });
}

/** Undefined where no certificate is required. */
export function barOf(required: RequireCertificate | undefined): CertificateBar | undefined {
  if (required === undefined || required === false) return undefined;
  return required === true ? {} : required;
}
