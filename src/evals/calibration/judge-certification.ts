import type { Host } from "../../engine/host.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { defined } from "../../protocol/defined.ts";
import type { AgentEvalSuite, RubricCriterion } from "../../protocol/evals/eval-suite.ts";
import type { CertificateProblem } from "../../protocol/evals/judge-certificate-api.ts";
import {
  type CertificateBar,
  type CertificateRecord,
  DEFAULT_MIN_KAPPA,
  DEFAULT_MIN_N,
  type RequireCertificate,
} from "../../protocol/evals/judge-certificate-api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Judge, JudgeIdentity } from "../judge/judge.ts";
import { taskBar } from "../score/task-bar.ts";
import {
  allCertificates,
  type CertifiedJudge,
  certificateProblems,
  hashesOfJudge,
  hashOfModel,
} from "./certificate.ts";

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
  return { ...defined({ certificate: record }), problems };
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

export interface RecordedJudge {
  readonly model: string;
  readonly promptSha256: string;
  readonly modelSha256: string;
  /** Whether a change of the judge is visible: for a program or an endpoint only by the version that its entry names. */
  readonly versioned: boolean;
}

export function recordedJudge({ identity }: Pick<Judge, "identity">): RecordedJudge {
  const { model, promptHash, fingerprint } = identity;
  const versioned = fingerprint !== undefined;
  return { model, promptSha256: promptHash, modelSha256: hashOfModel(identity), versioned };
}

export function certifiedJudge(
  { model, promptHash, fingerprint }: JudgeIdentity,
  suite: AgentEvalSuite,
): CertifiedJudge {
  return { promptSha256: promptHash, model, ...defined({ fingerprint }), rubric: rubricsOf(suite) };
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

/** The criteria by which a judge passes an output, and how many of them must be met. */
export interface SuiteRubric {
  readonly rubric: readonly RubricCriterion[];
  readonly bar: number;
}

export function rubricsByTask(suite: Pick<AgentEvalSuite, "tasks" | "thresholds">): ReadonlyMap<string, SuiteRubric> {
  return new Map(
    suite.tasks.flatMap((task) => {
      const { taskId, expected } = task;
      if (expected.kind !== "rubric") return [];
      return [[taskId, { rubric: expected.rubric, bar: taskBar(task, suite.thresholds) }] as const];
    }),
  );
}

/** The different ones a suite has, in an order that does not depend on that of its tasks. */
export function rubricsOf(suite: Pick<AgentEvalSuite, "tasks" | "thresholds">): SuiteRubric[] {
  const different = new Map([...rubricsByTask(suite).values()].map((one) => [rubricKey(one), one]));
  return [...different.keys()].sort().flatMap((key) => different.get(key) ?? []);
}

export function rubricKey({ rubric, bar }: SuiteRubric): string {
  return canonicalJson({ rubric, bar });
}
