import { Count, closed, JsonObject, Name, open, Positive, Type } from "../schema.ts";
import { Reducer } from "../workflows/workflow.ts";
import { RunErrorShape } from "./run-errors.ts";
import { DRAIN_POLICIES } from "./run-status.ts";

const Text = Type.String();
const DrainPolicy = Type.Enum([...DRAIN_POLICIES]);

/** Events of nodes and of the engine. Part of the catalogue in `events.ts`. */
export const NODE_EVENTS = {
  "node.started": {
    tier: "debug",
    changesSnapshot: true,
    summary: "An attempt of a node begins.",
    payload: Type.Object({ nodeId: Name, typeId: Name, attempt: Count }, open),
  },
  "node.completed": {
    tier: "updates",
    summary: "The node is done.",
    payload: Type.Object(
      { nodeId: Name, outputs: JsonObject, verdict: Type.Optional(Type.Enum(["rejected", "refined"])) },
      open,
    ),
  },
  "node.failed": {
    tier: "updates",
    summary: "The node gave up after its last attempt.",
    payload: Type.Object({ nodeId: Name, error: RunErrorShape, attempts: Positive }, open),
  },
  "node.retried": {
    tier: "debug",
    summary: "An attempt failed and another will follow after the delay.",
    payload: Type.Object({ nodeId: Name, attempt: Positive, delayMs: Count, lastError: RunErrorShape }, open),
  },
  "node.skipped": {
    tier: "updates",
    summary: "The node will not run on this path.",
    payload: Type.Object({ nodeId: Name, reason: Text }, open),
  },
  "node.cancelled": {
    tier: "debug",
    summary: "The node was active when the run ended.",
    payload: Type.Object({ nodeId: Name, reason: Text }, open),
  },
  "variable.changed": {
    tier: "debug",
    summary: "A node wrote a workflow variable; sensitive values are masked.",
    payload: Type.Object(
      {
        name: Name,
        previous: Type.Optional(Type.Unknown()),
        next: Type.Unknown(),
        nodeId: Name,
        /** From now on the variable is masked, whatever its definition says. */
        sensitive: Type.Optional(Type.Literal(true)),
      },
      open,
    ),
  },
  "channel.written": {
    tier: "debug",
    summary: "The input to a channel's reducer; the channel's value is the fold of these.",
    payload: Type.Object(
      {
        channel: Name,
        value: Type.Unknown(),
        reducer: Reducer,
        writtenAt: Text,
        nodeId: Type.Optional(Name),
        schemaVersion: Type.Optional(Positive),
        sourceEngineId: Type.Optional(Name),
        sourceRunId: Type.Optional(Name),
      },
      closed,
    ),
  },
  "version.pinned": {
    tier: "debug",
    summary: "The first answer of getVersion for a change; later calls return it.",
    payload: Type.Object({ changeId: Name, version: Count, nodeId: Type.Optional(Name) }, open),
  },
  "cap.breached": {
    tier: "updates",
    summary: "A limit was exceeded; the run fails next.",
    payload: Type.Object(
      {
        kind: Type.Enum(["node-executions", "run-duration", "loop-iterations", "dispatch-iterations", "schema"]),
        limit: Type.Number(),
        observed: Type.Number(),
        nodeId: Type.Optional(Name),
      },
      open,
    ),
  },
  "workflow.loopback-limit": {
    tier: "updates",
    summary: "A loop-back went round as often as it may.",
    payload: Type.Object({ nodeId: Name, iterations: Positive, limit: Positive }, open),
  },
  "assay.timer.set": {
    tier: "debug",
    summary: "The node sleeps; it is due delayMs after this event's timestamp.",
    payload: Type.Object({ nodeId: Name, delayMs: Count }, closed),
  },
  "assay.timer.fired": {
    tier: "debug",
    summary: "A sleeping node is due, and its next step has external effects.",
    payload: Type.Object({ nodeId: Name }, closed),
  },
  "assay.pause.requested": {
    tier: "debug",
    summary: "A pause waits for the executing nodes to end.",
    payload: Type.Object({ drainPolicy: DrainPolicy, reason: Type.Optional(Text), by: Name }, closed),
  },
  "assay.pause.withdrawn": {
    tier: "debug",
    summary: "The run was resumed before the requested pause took effect.",
    payload: Type.Object({ by: Name, reason: Type.Optional(Text) }, closed),
  },
  "assay.cancel.requested": {
    tier: "debug",
    summary: "A node is executing; the run is cancelled as soon as it ends.",
    payload: Type.Object(
      {
        by: Name,
        reason: Type.Optional(Text),
        parentRunId: Type.Optional(Name),
        parentNodeId: Type.Optional(Name),
      },
      closed,
    ),
  },
  "assay.channel.opened": {
    tier: "debug",
    summary: "The rules of a channel, recorded before its first write.",
    payload: Type.Object(
      {
        channel: Name,
        reducer: Reducer,
        default: Type.Optional(Type.Unknown()),
        maxSize: Type.Optional(Positive),
        ttlMs: Type.Optional(Positive),
        sensitive: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
  },
  "assay.loop.entered": {
    tier: "debug",
    summary: "An edge led back; the listed nodes start over.",
    payload: Type.Object({ edgeId: Name, nodeId: Name, iteration: Positive, nodeIds: Type.Array(Name) }, closed),
  },
  "assay.cost.recorded": {
    tier: "debug",
    summary: "Allow-listed openwop.cost.* attributes of a node.",
    payload: Type.Object({ nodeId: Name, attributes: JsonObject }, closed),
  },
} as const;

const EntryChanges = Type.Object({ set: JsonObject, removed: Type.Array(Type.String()) }, closed);

export const DIVERGENCE_KINDS = ["output", "missing", "extra", "type-mismatch"] as const;
export type DivergenceKind = (typeof DIVERGENCE_KINDS)[number];

/** Events of forks. Part of the catalogue in `events.ts`. */
export const FORK_EVENTS = {
  "assay.branch.began": {
    tier: "debug",
    changesSnapshot: true,
    summary:
      "A branch leaves its copied history here: the listed nodes start over, with the run options that are named. A branch whose gates ask again goes back to the state before the first of them.",
    payload: Type.Object(
      {
        nodeIds: Type.Array(Name),
        /** The gates among them that were decided before the fork point, and ask again. */
        reopens: Type.Optional(Type.Array(Name)),
        /** Options with another value than before, as `inputs.NAME` or `configurable.NAME`. */
        changes: Type.Optional(Type.Array(Name)),
        /** The nodes that had begun and not ended, or were about to begin: they begin whatever the conditions before them say. */
        enters: Type.Optional(Type.Array(Name)),
        /** The nodes that were about to be skipped. */
        skips: Type.Optional(Type.Array(Name)),
        /** The sequence that the branch goes back to: its state is the one before this event. */
        goesBackTo: Type.Optional(Positive),
        /** The difference in that state. */
        restores: Type.Optional(
          Type.Object(
            {
              variables: Type.Optional(EntryChanges),
              nodes: Type.Optional(EntryChanges),
              channels: Type.Optional(EntryChanges),
              loops: Type.Optional(EntryChanges),
              pins: Type.Optional(EntryChanges),
              children: Type.Optional(EntryChanges),
              members: Type.Optional(EntryChanges),
            },
            closed,
          ),
        ),
        /** The interrupts since then whose answers do not count. */
        voids: Type.Optional(Type.Array(Name)),
        /** Those whose decision holds where the gate shows the same under this key. */
        holds: Type.Optional(Type.Array(Type.Object({ interruptId: Name, key: Name }, closed))),
        /** New values of variables. */
        inputs: Type.Optional(JsonObject),
        configurable: Type.Optional(JsonObject),
        tags: Type.Optional(Type.Array(Type.String())),
        metadata: Type.Optional(JsonObject),
        /** Inputs that are masked by their name. */
        sensitiveInputs: Type.Optional(Type.Array(Type.String())),
        secrets: Type.Optional(Type.Unknown()),
        limits: Type.Optional(
          Type.Object({ nodeExecutions: Positive, runDurationMs: Type.Optional(Positive) }, closed),
        ),
      },
      closed,
    ),
  },
  "replay.diverged": {
    tier: "debug",
    summary: "The replay is no longer what its source was. Only the first difference is recorded.",
    payload: Type.Object(
      {
        sourceRunId: Name,
        atSequence: Count,
        originalEventId: Type.Optional(Name),
        divergenceKind: Type.Enum([...DIVERGENCE_KINDS]),
        /** The type of the event that the replay came to there. */
        divergencePoint: Name,
      },
      closed,
    ),
  },
} as const;
