import {
  closed,
  JsonObject,
  Name,
  open,
  Positive,
  Share,
  ShortName,
  type Static,
  type TSchema,
  Type,
} from "../schema.ts";

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

/** The decision of a supervisor: the workers that are next, a question to a person, or the end. */
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

const ErrorObject = Type.Object({ code: Name, message: Name, details: Type.Optional(JsonObject) }, open);

export const CHAIN_EVENT = "core.workflowChain.event";

/** Events of supervisors and of the workers they dispatch. Part of the catalogue in `events.ts`. */
export const ORCHESTRATOR_EVENTS = {
  "runOrchestrator.decided": {
    tier: "updates",
    summary: "A supervisor decided what is next. Once per decision; the supervisor is named by the event itself.",
    payload: Type.Object(
      { agentId: Type.String({ minLength: 3, maxLength: 256 }), decision: OrchestratorDecision },
      closed,
    ),
  },
  [CHAIN_EVENT]: {
    tier: "debug",
    summary: "A step of handing work to a worker, each caused by the one before: begun, started, ended, harvested.",
    payload: Type.Object(
      {
        phase: Type.Enum([
          "dispatch.began",
          "dispatch.succeeded",
          "dispatch.failed",
          "child.completed",
          "child.failed",
          "child.cancelled",
          "output.harvested",
        ]),
        workerId: Name,
        parentRunId: Name,
        childRunId: Type.Optional(Name),
        /** Variables of this run that were set. */
        harvestedKeys: Type.Optional(Type.Array(Name)),
        error: Type.Optional(ErrorObject),
      },
      closed,
    ),
  },
  "core.workflowChain.confidence-escalated": {
    tier: "updates",
    summary: "A decision had too little confidence; it needs a confirmation before anything is done.",
    payload: Type.Object(
      {
        confidence: Share,
        floor: Type.Number({ minimum: CONFIDENCE_FLOOR, maximum: 1 }),
        escalationKind: Type.Enum(["clarify", "escalate"]),
        workerId: Type.Optional(Name),
        parentRunId: Name,
        originalDecision: Type.Optional(OrchestratorDecision),
      },
      closed,
    ),
  },
  "model.capability.insufficient": {
    tier: "updates",
    summary: "A node needs a model that can do more than the one there is; it is refused next.",
    payload: Type.Object(
      {
        nodeId: Name,
        provider: Name,
        model: Name,
        missingCapabilities: Type.Array(Name, { uniqueItems: true }),
        fallbackAttempted: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
  },
} as const;
