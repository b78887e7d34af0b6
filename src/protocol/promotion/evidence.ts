import { EVAL_MODES } from "../evals/eval-suite.ts";
import { RequireCertificate } from "../evals/judge-certificate-api.ts";
import { closed, Name, ShortName, type Static, Type } from "../schema.ts";

const Suite = Type.String({ minLength: 1, maxLength: 512, description: "id@version" });

export const YEAR_SEC = 31_622_400;

/** One condition of a transition. A refusal lists all of them under `details.conditions`. */
export const Condition = Type.Object(
  {
    condition: Name,
    wanted: Type.String(),
    found: Type.String(),
    met: Type.Boolean(),
  },
  closed,
);
export type Condition = Static<typeof Condition>;

/** All that is missing, in one sentence. */
export function problemIn(conditions: readonly Condition[]): string {
  const unmet = conditions.filter(({ met }) => !met);
  return unmet.map(({ condition, wanted, found }) => `${condition}: ${wanted}, found ${found}`).join("; ");
}

/** Modes and tasks of the suite that an evaluation must have to be evidence. An absent list means all of them. */
export const EvidenceCoverage = Type.Object(
  {
    modes: Type.Optional(
      Type.Array(Type.Enum([...EVAL_MODES]), {
        minItems: 1,
        uniqueItems: true,
        description:
          "modes that must have run; all that the suite declares when absent, except regression and live-shadow",
      }),
    ),
    tasks: Type.Optional(
      Type.Array(ShortName, {
        minItems: 1,
        maxItems: 10_000,
        uniqueItems: true,
        description: "tasks that must have run; all tasks of these modes when absent",
      }),
    ),
  },
  closed,
);
export type EvidenceCoverage = Static<typeof EvidenceCoverage>;

const EVIDENCE_FIELDS = {
  suiteSha256: Type.Optional(
    Type.String({ pattern: "^[0-9a-f]{64}$", description: "filled in from the suite when it is left out" }),
  ),
  evalRunId: Type.Optional(ShortName),
  requiredPassScore: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: "takes the place of the suite's own bar" }),
  ),
  acceptHumanOverrides: Type.Optional(
    Type.Boolean({ description: "count the scores that people overrode; default false" }),
  ),
  allowUnusedFixtures: Type.Optional(
    Type.Boolean({ description: "accept tasks whose fixtures were never used; false unless set" }),
  ),
  requireCertificate: Type.Optional(RequireCertificate),
  maxAgeSec: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: YEAR_SEC })),
  evidence: Type.Optional(EvidenceCoverage),
};

/** Which evaluation has to speak for a version before it is deployed. */
export const PolicyEvidence = Type.Object({ suite: Suite, ...EVIDENCE_FIELDS }, closed);
export type PolicyEvidence = Static<typeof PolicyEvidence>;

/**
 * Which evaluation has to speak before a gate of a workflow opens. Without `evalRunId` the run names one, and then the gate has to say
 * what it must be about.
 */
export const RequiredEval = Type.Object(
  {
    ...EVIDENCE_FIELDS,
    suite: Type.Optional(Suite),
    agentId: Type.Optional(ShortName),
    agentVersion: Type.Optional(ShortName),
  },
  closed,
);
export type RequiredEval = Static<typeof RequiredEval>;

/** The evidence that a run names for its gate, where the gate names none. */
export const NamedEvidence = Type.Object(
  { evalRunId: Type.Optional(ShortName), agentVersion: Type.Optional(ShortName) },
  closed,
);
export type NamedEvidence = Static<typeof NamedEvidence>;

/** Why a gate with this demand could never be granted, or by anything. */
export function vagueEvidence({ evalRunId, suite, agentId, suiteSha256 }: RequiredEval): string | undefined {
  if (suiteSha256 !== undefined && suite === undefined) return "names a suiteSha256 without its suite";
  if (evalRunId !== undefined || (suite !== undefined && agentId !== undefined)) return undefined;
  return "names neither evalRunId nor both suite and agentId, so any evaluation would do";
}

/** The conditions of the evaluation, and the runs that they were read from. */
export interface Evidence {
  readonly conditions: readonly Condition[];
  readonly preconditions: readonly Precondition[];
}

/** A run that a decision rests on. The decision is refused when the run or people's judgments of it have changed since. */
export interface Precondition {
  readonly runId: string;
  readonly version: number;
  /** The place in the tenant's history of judgments up to which they were read; absent where they do not matter. */
  readonly judgedUpTo?: number;
}
