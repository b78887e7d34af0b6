import { DRAIN_POLICIES, RunEventDoc } from "../events.ts";
import { Annotation } from "../judgments/annotation.ts";
import {
  closed,
  Id,
  JsonObject,
  Name,
  open,
  Positive,
  pageOf,
  Share,
  ShortName,
  type Static,
  Type,
} from "../schema.ts";
import { RunStatusSchema } from "./run-status.ts";
import { RunSnapshot } from "./snapshot.ts";

/** Request and response bodies of every route. Requests are closed: an unknown property is refused, not ignored. */
const Reason = Type.String({ maxLength: 512 });

export const ErrorEnvelope = Type.Object(
  {
    error: Name,
    message: Name,
    details: Type.Optional(JsonObject),
  },
  closed,
);
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;

/** Keys with a meaning of their own; others pass through unless the workflow's configurableSchema forbids them. */
export const Configurable = Type.Object(
  {
    recursionLimit: Type.Optional(Positive),
    model: Type.Optional(Name),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    maxTokens: Type.Optional(Positive),
    promptOverrides: Type.Optional(Type.Record(Type.String(), Type.String())),
    mockProvider: Type.Optional(Type.Object({ id: Id, config: Type.Optional(JsonObject) }, closed)),
    runTimeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000_000 })),
    maxLoopIterations: Type.Optional(Positive),
    escalationThreshold: Type.Optional(Share),
    reasoningVerbosity: Type.Optional(Type.Enum(["summary", "full", "off"])),
    ai: Type.Optional(
      Type.Object(
        {
          provider: Type.Optional(Name),
          model: Type.Optional(Name),
          credentialRef: Type.Optional(Name),
        },
        open,
      ),
    ),
    budget: Type.Optional(JsonObject),
  },
  open,
);

export const CreateRunRequest = Type.Object(
  {
    workflowId: Type.Optional(Id),
    inputs: Type.Optional(JsonObject),
    tenantId: Type.Optional(ShortName),
    scopeId: Type.Optional(ShortName),
    callbackUrl: Type.Optional(Type.String({ minLength: 1, maxLength: 2048, pattern: "^https?://" })),
    mode: Type.Optional(Type.Literal("eval")),
    evalSuiteRef: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          "id@version, the URI of a suite on this host, or an https URI that ends with #sha256= and the digest of the file",
      }),
    ),
    agentId: Type.Optional(ShortName),
    configurable: Type.Optional(Configurable),
    tags: Type.Optional(Type.Array(ShortName, { maxItems: 100 })),
    metadata: Type.Optional(JsonObject),
  },
  closed,
);
export type CreateRunRequest = Static<typeof CreateRunRequest>;

export const CreateRunResponse = Type.Object(
  { runId: Type.String(), status: RunStatusSchema, eventsUrl: Type.String(), statusUrl: Type.String() },
  closed,
);
export type CreateRunResponse = Static<typeof CreateRunResponse>;

export const ListRunsResponse = pageOf("runs", RunSnapshot);

export const CancelRunRequest = Type.Object({ reason: Type.Optional(Reason) }, closed);
export type CancelRunRequest = Static<typeof CancelRunRequest>;
export const CancelRunResponse = Type.Object({ runId: Type.String(), status: RunStatusSchema }, closed);
export type CancelRunResponse = Static<typeof CancelRunResponse>;

export const MAX_BULK_RUN_IDS = 100;

export const BulkCancelRequest = Type.Object(
  {
    runIds: Type.Array(Id, { minItems: 1, maxItems: MAX_BULK_RUN_IDS }),
    reason: Type.Optional(Reason),
  },
  closed,
);
export type BulkCancelRequest = Static<typeof BulkCancelRequest>;

export const BulkCancelResponse = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          runId: Type.String(),
          ok: Type.Boolean(),
          status: Type.Optional(RunStatusSchema),
          error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() }, closed)),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type BulkCancelResponse = Static<typeof BulkCancelResponse>;

export const PauseRunRequest = Type.Object(
  { reason: Type.Optional(Reason), drainPolicy: Type.Optional(Type.Enum([...DRAIN_POLICIES])) },
  closed,
);
export type PauseRunRequest = Static<typeof PauseRunRequest>;
export const PauseRunResponse = Type.Object(
  { runId: Type.String(), status: Type.Literal("paused"), pausedAt: Type.Optional(Type.String()) },
  closed,
);
export type PauseRunResponse = Static<typeof PauseRunResponse>;

export const ResumeRunRequest = Type.Object({ reason: Type.Optional(Reason) }, closed);
export type ResumeRunRequest = Static<typeof ResumeRunRequest>;
export const ResumeRunResponse = Type.Object(
  { runId: Type.String(), status: Type.Literal("running"), resumedAt: Type.Optional(Type.String()) },
  closed,
);
export type ResumeRunResponse = Static<typeof ResumeRunResponse>;

/** Both generations of the poll body at once: `isComplete` is the older name of `isTerminal`. */
export const PollResponse = Type.Object(
  {
    runId: Type.String(),
    events: Type.Array(RunEventDoc),
    isComplete: Type.Boolean(),
    isTerminal: Type.Boolean(),
    lastSequence: Type.Integer({ minimum: -1 }),
    status: RunStatusSchema,
  },
  closed,
);

export const EventListResponse = Type.Object({ events: Type.Array(RunEventDoc) }, closed);

export const CancelRunsRequest = Type.Object(
  {
    runId: Type.Optional(Id),
    workflowId: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    reason: Type.Optional(Type.String({ maxLength: 512 })),
  },
  { ...closed, description: "Exactly one of runId, a run without a parent, and workflowId." },
);
export type CancelRunsRequest = Static<typeof CancelRunsRequest>;

export const CancelRunsResponse = Type.Object(
  {
    cancelled: Type.Integer({ minimum: 0, description: "Runs that this request cancelled." }),
    failed: Type.Integer({ minimum: 0, description: "Runs that could not be cancelled now." }),
    more: Type.Boolean({ description: "Whether runs are left: send the request again." }),
  },
  closed,
);
export type CancelRunsResponse = Static<typeof CancelRunsResponse>;

export const DeleteRunResponse = Type.Object(
  {
    runId: Type.String(),
    deletedRuns: Type.Array(Type.String(), { description: "The run and those it dispatched, directly or not." }),
    annotations: Type.Integer({ minimum: 0, description: "How many judgments went with them." }),
  },
  closed,
);
export type DeleteRunResponse = Static<typeof DeleteRunResponse>;

/** A piece of a model's text, as streams show the event `output.chunk`. */
export const MessageChunk = Type.Object(
  {
    nodeId: Type.String(),
    runId: Type.String(),
    chunk: Type.String(),
    isLast: Type.Boolean(),
    meta: Type.Optional(JsonObject),
  },
  open,
);
export type MessageChunk = Static<typeof MessageChunk>;

/** Frames of a run's streams that are not events of its log, by the name of their event. */
export const RUN_FRAMES = {
  "state.snapshot": { data: RunSnapshot },
  "ai.message.chunk": { data: MessageChunk },
  "run.annotated": { data: Annotation },
} as const;
