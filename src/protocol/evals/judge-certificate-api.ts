import {
  Count,
  closed,
  Id,
  Limit,
  Name,
  nullable,
  Positive,
  pageOf,
  Seed,
  Sha256,
  type Static,
  Timestamp,
  Type,
} from "../schema.ts";
import { Estimate, IntervalOf95, NO_FIGURE } from "./eval-statistics.ts";
import { SuiteId, SuiteVersion } from "./eval-suite.ts";

/** Agreement of a judge with people on the same outputs, and the certificate that records it. */
const MaybeNumber = nullable(Type.Number());
const Reason = Type.Optional(Type.Enum([...NO_FIGURE]));

export const JudgeKappa = Type.Object(
  {
    value: MaybeNumber,
    reason: Reason,
    count: Count,
    observed: MaybeNumber,
    expected: MaybeNumber,
    interval: nullable(IntervalOf95),
    intervalReason: Reason,
  },
  closed,
);
export type JudgeKappa = Static<typeof JudgeKappa>;

const AGREEMENT = {
  accuracy: Type.Object(Estimate.properties, { ...closed, description: "share of outputs both judged alike" }),
  sensitivity: Type.Object(Estimate.properties, {
    ...closed,
    description: "of the outputs that people gave the label, how many the judge gave it",
  }),
  specificity: Type.Object(Estimate.properties, {
    ...closed,
    description: "of the outputs that people did not give the label, how many the judge did not give it",
  }),
  kappa: JudgeKappa,
};

export const LabelFigures = Type.Object(
  {
    label: Name,
    truePositives: Count,
    falsePositives: Count,
    falseNegatives: Count,
    trueNegatives: Count,
    ...AGREEMENT,
  },
  closed,
);
export type LabelFigures = Static<typeof LabelFigures>;

export const CalibrationReport = Type.Object(
  {
    n: Count,
    positive: Type.String({ minLength: 1, description: "the label that sensitivity and specificity are about" }),
    labels: Type.Array(Name),
    confusion: Type.Array(Type.Object({ gold: Name, judge: Name, count: Positive }, closed)),
    ...AGREEMENT,
    byLabel: Type.Array(LabelFigures),
  },
  closed,
);
export type CalibrationReport = Static<typeof CalibrationReport>;

export const CertificateHashes = Type.Object(
  { promptSha256: Sha256, modelSha256: Sha256, rubricSha256: Sha256, goldSha256: Sha256 },
  closed,
);
export type CertificateHashes = Static<typeof CertificateHashes>;

export const JudgeCertificate = Type.Object(
  {
    model: Name,
    hashes: CertificateHashes,
    report: CalibrationReport,
    issuedAt: Timestamp,
    expiresAt: Type.String({ description: "ISO 8601; no longer valid at that instant" }),
  },
  closed,
);
export type JudgeCertificate = Static<typeof JudgeCertificate>;

export const CERTIFICATE_PROBLEMS = [
  "judge_missing",
  "judge_unversioned",
  "certificate_missing",
  "certificate_unreadable",
  "prompt_changed",
  "model_changed",
  "rubric_changed",
  "gold_changed",
  "not_yet_issued",
  "expired",
  "kappa_undefined",
  "kappa_too_low",
  "too_few_items",
] as const;

export const CertificateProblem = Type.Object(
  { code: Type.Enum([...CERTIFICATE_PROBLEMS]), problem: Type.String() },
  closed,
);
export type CertificateProblem = Static<typeof CertificateProblem>;

/** Runs of calibrations are of this workflow. */
export const CALIBRATION_WORKFLOW_ID = "assay-judge-calibration";

export const DEFAULT_MIN_KAPPA = 0.6;
export const DEFAULT_MIN_N = 50;

/** The conditions that a certificate must meet. */
export const CertificateBar = Type.Object(
  {
    minKappa: Type.Optional(Type.Number({ minimum: -1, maximum: 1, description: `default ${DEFAULT_MIN_KAPPA}` })),
    minN: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: `default ${DEFAULT_MIN_N}` })),
  },
  closed,
);
export type CertificateBar = Static<typeof CertificateBar>;

/** `true` asks for the usual bar, `false` for no certificate. */
export const RequireCertificate = Type.Union([Type.Boolean(), CertificateBar]);
export type RequireCertificate = Static<typeof RequireCertificate>;

export const CALIBRATED_RUNS_MAX = 1_000;

export const CalibrateJudge = Type.Object(
  {
    suite: Type.String({ minLength: 1, maxLength: 512, description: "id@version; whose rubrics are judged by" }),
    runIds: Type.Array(Id, {
      minItems: 1,
      maxItems: CALIBRATED_RUNS_MAX,
      uniqueItems: true,
      description: "evaluations and imported tapes that people have judged",
    }),
    taskId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "whose rubric the outputs of tapes are judged by" }),
    ),
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650, description: "how long it is valid; default 90" })),
    seed: Type.Optional(Seed),
    concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: "outputs judged at once" })),
    budgetUsd: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1_000_000_000, description: "it stops, and fails, when this much is spent" }),
    ),
  },
  closed,
);
export type CalibrateJudge = Static<typeof CalibrateJudge>;

/** Why a judgment of a person is gold for nothing. */
export const LEFT_OUT = [
  "no_such_rubric",
  "several_trials",
  "no_output",
  "output_cut",
  "about_no_output",
  "no_verdict",
  "not_a_person",
  "imported",
] as const;
export type LeftOut = (typeof LEFT_OUT)[number];
const Tally = Type.Array(Type.Object({ reason: Type.Enum([...LEFT_OUT]), count: Positive }, closed));

export const GoldFigures = Type.Object(
  {
    outputs: Type.Integer({ minimum: 0, description: "that people judged, and agreed on" }),
    disputed: Type.Integer({ minimum: 0, description: "outputs that people disagree on, without an adjudication" }),
    unjudged: Type.Integer({ minimum: 0, description: "outputs that the judge gave no verdict on" }),
    leftOut: Tally,
    rubrics: Type.Object(
      {
        suite: Count,
        judged: Type.Integer({ minimum: 0, description: "those of the suite that outputs were judged by" }),
      },
      closed,
    ),
  },
  closed,
);
export type GoldFigures = Static<typeof GoldFigures>;

export const CertificateRecord = Type.Object(
  {
    certificateId: Name,
    suiteId: SuiteId,
    suiteVersion: SuiteVersion,
    runId: Type.Optional(Type.String({ description: "the run that calibrated" })),
    runIds: Type.Array(Name, { description: "where the judgments of people are from" }),
    issuedBy: Name,
    gold: GoldFigures,
    judgedBy: Type.Optional(
      Type.Array(Name, { description: "whose judgments it rests on, and who withdrew some of others" }),
    ),
    withdrawnOf: Type.Optional(Type.Array(Name, { description: "whose judgments were withdrawn or replaced before" })),
    costUsd: Type.Optional(Type.Number({ minimum: 0 })),
    certificate: JudgeCertificate,
  },
  closed,
);
export type CertificateRecord = Static<typeof CertificateRecord>;

export const CertificateView = Type.Object(
  {
    ...CertificateRecord.properties,
    valid: Type.Boolean({
      description: "for the judge and the highest version of the suite as they are now, by the usual bar",
    }),
    problems: Type.Array(CertificateProblem, { description: "why it is not; each of them" }),
  },
  closed,
);
export type CertificateView = Static<typeof CertificateView>;

export const CertificateListQuery = Type.Object(
  {
    suiteId: Type.Optional(SuiteId),
    limit: Limit,
    cursor: Type.Optional(Id),
  },
  closed,
);
export type CertificateListQuery = Static<typeof CertificateListQuery>;

export const CertificatePage = pageOf("certificates", CertificateView);
export type CertificatePage = Static<typeof CertificatePage>;
