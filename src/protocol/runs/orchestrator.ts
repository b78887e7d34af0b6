import { closed, Name, Positive, Share, ShortName, type Static, type TSchema, Type } from "../schema.ts";

export const SUPERVISOR = "core.orchestrator.supervisor";
export const DISPATCH = "core.dispatch";

const Confidence = Type.Optional(Share);

/** More workers in one decision would be a workflow of their own. */
const WORKERS_MAX = 100;

const several = { minItems: 1, maxItems: WORKERS_MAX } as const;

const NextWorker = Type.Object(
  { kind: Type.Literal("next-worker"), nextWorkerIds: Type.Array(ShortName, several), confidence: Confidence },
  closed,
);

/** As long as the question of an interrupt may be. */
const AskUser = Type.Object(
  { kind: Type.Literal("ask-user"), prompt: Type.String({ minLength: 1, maxLength: 1024 }) },
  closed,
);

const Terminate = Type.Object(
  {
    kind: Type.Literal("terminate"),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    confidence: Confidence,
    successCriteria: Type.Optional(
      Type.Array(Type.Object({ key: ShortName, met: Type.Boolean() }, closed), {
        maxItems: 100,
      }),
    ),
  },
  closed,
);

/** What a supervisor may decide: the workers that are next, a question to a person, or the end. */
export const OrchestratorDecision = Type.Union([NextWorker, AskUser, Terminate]);
export type OrchestratorDecision = Static<typeof OrchestratorDecision>;

/** The same, as a schema for those who decide: they may name these workers, or any if there are none. */
export function decisionAmong(workerIds: readonly string[]): TSchema {
  if (workerIds.length === 0) return OrchestratorDecision;
  const nextWorkerIds = Type.Array(Type.Enum([...workerIds]), several);
  const oneOfThese = Type.Object({ kind: Type.Literal("next-worker"), nextWorkerIds, confidence: Confidence }, closed);
  return Type.Union([oneOfThese, AskUser, Terminate]);
}

/** The workflows that a decision wants run, in order. */
export function workersOf(decision: OrchestratorDecision): readonly string[] {
  return decision.kind === "next-worker" ? decision.nextWorkerIds : [];
}

/** Names that a mapping has at most, as many as a workflow may declare variables: all of them are written in one go. */
const MAPPED_MAX = 1000;

/** From names of variables on one side to those on the other. */
export const Mapping = Type.Record(Type.String(), Name, { maxProperties: MAPPED_MAX });
const MappingByWorker = Type.Record(Type.String(), Mapping);

export const DispatchConfig = Type.Object(
  {
    askUserRouting: Type.Optional(Type.Enum(["conversation", "clarification", "auto"])),
    workerDispatchModel: Type.Optional(Type.Enum(["child-run"])),
    fanOutPolicy: Type.Optional(Type.Enum(["sequential", "reject"])),
    iterationCap: Type.Optional(Positive),
    inputMapping: Type.Optional(Mapping),
    outputMapping: Type.Optional(Mapping),
    perWorkerInputMappings: Type.Optional(MappingByWorker),
    perWorkerOutputMappings: Type.Optional(MappingByWorker),
  },
  closed,
);
export type DispatchConfig = Static<typeof DispatchConfig>;

/** A decision with a confidence below this needs a confirmation before anything is done. */
export const CONFIDENCE_FLOOR = 0.5;

/** Below this an agent's decision is held until it is ratified, unless the run or the agent says otherwise. */
export const DEFAULT_ESCALATION_THRESHOLD = 0.7;
