import { Count, closed, Name, nullable, Positive, Sha256, type Static, Timestamp, Type } from "../schema.ts";
import { Estimate, IntervalOf95, NO_FIGURE } from "./eval-statistics.ts";

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
