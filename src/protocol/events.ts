import { AGENT_EVENTS, ENVELOPE_EVENTS } from "./agents/events.ts";
import { EVAL_EVENTS } from "./evals/events.ts";
import { GATE_EVENTS } from "./gates/events.ts";
import { Owner } from "./identity/identity.ts";
import { DEPLOYMENT_EVENTS } from "./promotion/events.ts";
import { FORK_EVENTS, NODE_EVENTS } from "./runs/events.ts";
import { ORCHESTRATOR_EVENTS } from "./runs/orchestrator.ts";
import { RunErrorShape } from "./runs/run-errors.ts";
import { DRAIN_POLICIES } from "./runs/run-status.ts";
import {
  Count,
  closed,
  Id,
  JsonObject,
  Name,
  open,
  Positive,
  type Static,
  Timestamp,
  type TSchema,
  Type,
} from "./schema.ts";
import { TAPE_EVENTS } from "./tapes/events.ts";

/** 1.x writers stamp 2; a 2.x projection of the same store would stamp 3. One constant for every creation path. */
export const EVENT_LOG_SCHEMA_VERSION = 2;

/** Raised when an older engine could misread what this one writes. */
export const ENGINE_VERSION = 2;

const Text = Type.String();

export { DRAIN_POLICIES, type DrainPolicy } from "./runs/run-status.ts";

export const RunError = RunErrorShape;
export type RunError = RunErrorShape;

const DrainPolicy = Type.Enum([...DRAIN_POLICIES]);

/** Which streams carry an event: `updates` events also reach `debug` and cause a snapshot in `values`. */
export type StreamTier = "updates" | "debug" | "messages";

interface EventRow {
  readonly payload: TSchema;
  readonly tier: StreamTier;
  /** Not an update, but it does change the snapshot. */
  readonly changesSnapshot?: true;
  readonly summary: string;
}

/**
 * The catalogue: every event type this host writes, with the shape of its payload. An event enters this table
 * together with the code that emits it. `assay.*` types are ours and reach `debug` streams only.
 *
 * Payloads carry no durations and no ids of the run itself, so that a replay's payloads compare equal.
 */
export const EVENTS = {
  "run.started": {
    tier: "updates",
    summary: "The run exists and may execute. Always sequence 0.",
    payload: Type.Object(
      {
        workflowId: Name,
        workflowHash: Name,
        inputs: JsonObject,
        defaults: JsonObject,
        transport: Type.Enum(["rest", "mcp", "a2a", "ui"]),
        engineVersion: Text,
        owner: Owner,
        configurable: Type.Optional(JsonObject),
        tags: Type.Optional(Type.Array(Text)),
        metadata: Type.Optional(JsonObject),
        callbackUrl: Type.Optional(Name),
        parentRunId: Type.Optional(Name),
        parentNodeId: Type.Optional(Name),
        /** The run above all others, and how many are above this one. */
        rootRunId: Type.Optional(Name),
        depth: Type.Optional(Positive),
        /** Inputs that are masked because they were in the run they came from. */
        sensitiveInputs: Type.Optional(Type.Array(Text)),
        secrets: Type.Optional(Type.Unknown()),
        limits: Type.Object({ nodeExecutions: Positive, runDurationMs: Type.Optional(Positive) }, closed),
      },
      open,
    ),
  },
  "run.completed": {
    tier: "updates",
    summary: "Every node has settled and none failed unhandled.",
    payload: Type.Object({ outputs: JsonObject }, open),
  },
  "run.failed": {
    tier: "updates",
    summary: "The run ended because of an error.",
    payload: Type.Object({ error: RunError, failedNodeId: Type.Optional(Name) }, open),
  },
  "run.cancelled": {
    tier: "updates",
    summary: "The run was cancelled.",
    payload: Type.Object(
      {
        reason: Type.Optional(Text),
        cancelledBy: Type.Optional(Text),
        parentRunId: Type.Optional(Name),
        parentNodeId: Type.Optional(Name),
      },
      open,
    ),
  },
  "run.paused": {
    tier: "updates",
    summary: "No node runs until the run is resumed.",
    payload: Type.Object({ reason: Type.Optional(Text), drainPolicy: DrainPolicy }, open),
  },
  "run.resumed": {
    tier: "updates",
    summary: "A paused run continues.",
    payload: Type.Object({ reason: Type.Optional(Text) }, open),
  },
  "run.dead_lettered": {
    tier: "updates",
    summary: "This host could not execute the run, however often it tried; the run fails next.",
    payload: Type.Object({ runId: Name, reason: Name, attempts: Positive, nodeId: Type.Optional(Name) }, closed),
  },
  "assay.state.dropped": {
    tier: "debug",
    summary:
      "The state of the run is larger than this host can load: values, nodes and interrupts are left out, and the run fails next.",
    payload: Type.Object({ bytes: Positive, limitBytes: Positive }, closed),
  },
  "assay.times.corrected": {
    tier: "debug",
    summary:
      "The clock that wrote the event before was far ahead: due times, deadlines and its start are earlier by byMs.",
    payload: Type.Object({ byMs: Positive, writtenAt: Text }, closed),
  },
  ...NODE_EVENTS,
  ...GATE_EVENTS,
  ...FORK_EVENTS,
  ...TAPE_EVENTS,
  ...ORCHESTRATOR_EVENTS,
  ...AGENT_EVENTS,
  ...ENVELOPE_EVENTS,
  ...EVAL_EVENTS,
  ...DEPLOYMENT_EVENTS,
} as const satisfies Record<string, EventRow>;

export type EventType = keyof typeof EVENTS;

export type PayloadOf<T extends EventType> = Static<(typeof EVENTS)[T]["payload"]>;

/** An event without its place in the log, as `decide` returns it. */
export type EventDraft = {
  [T in EventType]: {
    readonly type: T;
    readonly payload: PayloadOf<T>;
    readonly nodeId?: string;
    readonly causationId?: string;
    /** Chosen beforehand where another event refers to it; given with the place in the log otherwise. */
    readonly eventId?: string;
    /** The payload with its sensitive values. Stored with the event, folded by the engine, never served. */
    readonly sealed?: PayloadOf<T>;
  };
}[EventType];

/** An event as it is stored and folded. */
export type RunEvent = EventDraft & {
  readonly eventId: string;
  readonly runId: string;
  readonly sequence: number;
  readonly timestamp: string;
};

/** An event as clients see it. Open in 1.x: readers ignore what they do not know. */
export const RunEventDoc = Type.Object(
  {
    eventId: Id,
    runId: Id,
    type: Name,
    payload: Type.Unknown(),
    timestamp: Timestamp,
    sequence: Count,
    nodeId: Type.Optional(Id),
    schemaVersion: Type.Optional(Count),
    engineVersion: Type.Optional(Text),
    causationId: Type.Optional(Id),
  },
  open,
);
export type RunEventDoc = Static<typeof RunEventDoc>;

/** The served form: everything but the sealed values, with the envelope's version stamps. */
export function eventDoc(event: RunEvent): RunEventDoc {
  return {
    eventId: event.eventId,
    runId: event.runId,
    type: event.type,
    payload: event.payload,
    timestamp: event.timestamp,
    sequence: event.sequence,
    ...(event.nodeId === undefined ? {} : { nodeId: event.nodeId }),
    schemaVersion: 1,
    engineVersion: String(ENGINE_VERSION),
    ...(event.causationId === undefined ? {} : { causationId: event.causationId }),
  };
}

/** The tier of any type, known or not: what is not in the catalogue is for debug streams. */
export function tierOf(type: string): StreamTier {
  return Object.hasOwn(EVENTS, type) ? EVENTS[type as EventType].tier : "debug";
}

export function changesSnapshot(type: string): boolean {
  if (!Object.hasOwn(EVENTS, type)) return false;
  const row: EventRow = EVENTS[type as EventType];
  return row.tier === "updates" || row.changesSnapshot === true;
}

export { endsRun, MASK } from "./words.ts";
