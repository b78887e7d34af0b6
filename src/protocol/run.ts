import { type Channel, openChannel, reduceChannel } from "./channel.ts";
import type { DrainPolicy, RunError, RunEvent } from "./events.ts";
import { ENGINE_VERSION, EVENT_LOG_SCHEMA_VERSION } from "./events.ts";
import type { Owner } from "./identity.ts";
import { own } from "./own.ts";
import type { RunStatus } from "./run-status.ts";
import { isTerminal } from "./run-status.ts";
import { masked, type Secret } from "./sensitive.ts";

/**
 * A run is the fold of its events. Server, SDK and console fold with the same `evolve`, so they cannot disagree.
 * Everything the engine needs to go on is in here; nothing of it exists only in memory.
 */
export interface Run {
  readonly runId: string;
  readonly workflowId: string;
  readonly workflowHash: string;
  readonly owner: Owner;
  readonly status: RunStatus;
  /** How many events were folded: the next event has this sequence. */
  readonly version: number;
  readonly engineVersion: number;
  readonly eventLogSchemaVersion: number;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly updatedAt: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly nodes: Readonly<Record<string, NodeState>>;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly executions: number;
  readonly limits: { readonly nodeExecutions: number; readonly runDurationMs?: number };
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly pins: Readonly<Record<string, number>>;
  readonly loops: Readonly<Record<string, number>>;
  readonly cost?: Readonly<Record<string, unknown>>;
  readonly pause?: { readonly at: string; readonly drainPolicy: DrainPolicy; readonly reason?: string };
  readonly pausedAt?: string;
  readonly cancel?: { readonly by: string; readonly reason?: string };
  readonly error?: RunError;
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** Every value that was ever masked by name: what was copied from it stays masked when the name has a new value. */
  readonly secrets?: readonly Secret[];
}

/**
 * `interrupted` is an attempt cut short by an immediate pause: it has no terminal event and the next one is fresh.
 * `retrying` waits for its next attempt; `sleeping` waits for a timer inside the same attempt.
 */
export type NodeStatus =
  | "executing"
  | "sleeping"
  | "retrying"
  | "interrupted"
  | "completed"
  | "failed"
  | "skipped"
  | "cancelled";

export interface NodeState {
  readonly status: NodeStatus;
  readonly attempt: number;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly dueAtMs?: number;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly error?: RunError;
}

export function isActive(node: NodeState): boolean {
  return node.status === "executing" || node.status === "sleeping" || node.status === "retrying";
}

export function isSettled(node: NodeState | undefined): node is NodeState {
  if (node === undefined) return false;
  const { status } = node;
  return status === "completed" || status === "failed" || status === "skipped" || status === "cancelled";
}

export function activeNodes(run: Run): [string, NodeState][] {
  return Object.entries(run.nodes).filter(([, node]) => isActive(node));
}

export function nodeOf(run: Run, nodeId: string): NodeState | undefined {
  return own(run.nodes, nodeId);
}

export function fold(events: readonly RunEvent[], from?: Run): Run | undefined {
  const scratch: Scratch = {};
  let run = from;
  for (const event of events) run = evolve(run, event, scratch);
  return run;
}

/**
 * The nodes that a fold of several events has copied for itself. They are changed in place from then on: a copy for
 * each event would make a workflow of thousands of nodes cost the square of that. Runs in between share them.
 */
export interface Scratch {
  nodes?: Record<string, NodeState>;
}

/** The next state. Events of a type it does not know change only the version. */
export function evolve(before: Run | undefined, event: RunEvent, scratch: Scratch = {}): Run {
  if (event.type === "run.started") return withSecrets(started(event), event);
  if (before === undefined) throw new Error(`run ${event.runId} has no run.started before ${event.type}`);
  const run = apply({ ...before, version: event.sequence + 1, updatedAt: event.timestamp }, event, scratch);
  return event.sealed === undefined ? run : withSecrets(run, event);
}

function withSecrets(run: Run, { payload, sealed }: RunEvent): Run {
  const found = sealed === undefined ? [] : masked(payload, sealed);
  const secrets = new Set([...(run.secrets ?? []), ...found]);
  return secrets.size === (run.secrets?.length ?? 0) ? run : { ...run, secrets: [...secrets] };
}

function started(event: Extract<RunEvent, { type: "run.started" }>): Run {
  const payload = event.sealed ?? event.payload;
  return {
    runId: event.runId,
    workflowId: payload.workflowId,
    workflowHash: payload.workflowHash,
    owner: payload.owner,
    status: "pending",
    version: event.sequence + 1,
    engineVersion: Number(payload.engineVersion) || ENGINE_VERSION,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    startedAt: event.timestamp,
    updatedAt: event.timestamp,
    variables: { ...payload.defaults, ...payload.inputs },
    nodes: {},
    channels: {},
    executions: 0,
    limits: payload.limits,
    pins: {},
    loops: {},
    ...(payload.configurable === undefined ? {} : { configurable: payload.configurable }),
    ...(payload.tags === undefined ? {} : { tags: payload.tags }),
    ...(payload.metadata === undefined ? {} : { metadata: payload.metadata }),
  };
}

function apply(run: Run, event: RunEvent, scratch: Scratch): Run {
  switch (event.type) {
    case "run.completed":
      return {
        ...run,
        status: "completed",
        endedAt: event.timestamp,
        outputs: (event.sealed ?? event.payload).outputs,
      };
    case "run.failed":
      return { ...run, status: "failed", endedAt: event.timestamp, error: event.payload.error };
    case "run.cancelled":
      return { ...run, status: "cancelled", endedAt: event.timestamp };
    case "assay.pause.requested": {
      const { drainPolicy, reason } = event.payload;
      return { ...run, pause: { at: event.timestamp, drainPolicy, ...(reason === undefined ? {} : { reason }) } };
    }
    case "assay.pause.withdrawn":
      return without(run, "pause");
    case "run.paused": {
      const nodes = event.payload.drainPolicy === "immediate" ? interruptActive(run) : run.nodes;
      return { ...without(run, "pause"), nodes, status: "paused", pausedAt: event.timestamp };
    }
    case "run.resumed":
      return { ...without(run, "pausedAt"), status: "running" };
    case "assay.cancel.requested": {
      const { by, reason } = event.payload;
      return { ...run, status: "cancelling", cancel: { by, ...(reason === undefined ? {} : { reason }) } };
    }
    case "node.started":
      return {
        ...withNode(run, scratch, event.payload.nodeId, {
          status: "executing",
          attempt: event.payload.attempt,
          startedAt: event.timestamp,
        }),
        status: run.status === "pending" ? "running" : run.status,
        executions: run.executions + 1,
      };
    case "assay.timer.set":
      return changeNode(run, scratch, event.payload.nodeId, (node) => ({
        ...node,
        status: "sleeping",
        dueAtMs: Date.parse(event.timestamp) + event.payload.delayMs,
      }));
    case "assay.timer.fired":
      return changeNode(run, scratch, event.payload.nodeId, ({ dueAtMs: _, ...node }) => ({
        ...node,
        status: "executing",
      }));
    case "node.retried":
      return changeNode(run, scratch, event.payload.nodeId, (node) => ({
        ...node,
        status: "retrying",
        attempt: event.payload.attempt,
        dueAtMs: Date.parse(event.timestamp) + event.payload.delayMs,
        error: event.payload.lastError,
      }));
    case "node.completed":
      return settle(run, scratch, event.payload.nodeId, event.timestamp, {
        status: "completed",
        outputs: (event.sealed ?? event.payload).outputs,
      });
    case "node.failed":
      return settle(run, scratch, event.payload.nodeId, event.timestamp, {
        status: "failed",
        error: event.payload.error,
      });
    case "node.skipped":
      return settle(run, scratch, event.payload.nodeId, event.timestamp, { status: "skipped" });
    case "node.cancelled":
      return settle(run, scratch, event.payload.nodeId, event.timestamp, { status: "cancelled" });
    case "variable.changed": {
      const { name, next } = event.sealed ?? event.payload;
      return { ...run, variables: { ...run.variables, [name]: next } };
    }
    case "assay.channel.opened": {
      const { channel, ...rules } = event.sealed ?? event.payload;
      return { ...run, channels: { ...run.channels, [channel]: openChannel(rules) } };
    }
    case "channel.written": {
      const { channel: name, value, reducer } = event.sealed ?? event.payload;
      const channel = own(run.channels, name) ?? openChannel({ reducer });
      return {
        ...run,
        channels: { ...run.channels, [name]: reduceChannel(channel, value, Date.parse(event.timestamp)) },
      };
    }
    case "version.pinned":
      return { ...run, pins: { ...run.pins, [event.payload.changeId]: event.payload.version } };
    case "assay.loop.entered": {
      const again = new Set(event.payload.nodeIds);
      const nodes = Object.fromEntries(Object.entries(run.nodes).filter(([id]) => !again.has(id)));
      return { ...run, nodes, loops: { ...run.loops, [event.payload.edgeId]: event.payload.iteration } };
    }
    case "assay.cost.recorded":
      return { ...run, cost: addCost(run.cost ?? {}, event.payload.attributes) };
    default:
      return run;
  }
}

function withNode(run: Run, scratch: Scratch, nodeId: string, node: NodeState): Run {
  // Assigning to this one name would not add a node.
  if (nodeId === "__proto__" || scratch.nodes === undefined || scratch.nodes !== run.nodes) {
    scratch.nodes = { ...run.nodes, [nodeId]: node };
  } else {
    scratch.nodes[nodeId] = node;
  }
  return { ...run, nodes: scratch.nodes };
}

function changeNode(run: Run, scratch: Scratch, nodeId: string, change: (node: NodeState) => NodeState): Run {
  return withNode(run, scratch, nodeId, change(nodeOf(run, nodeId) ?? { status: "executing", attempt: 0 }));
}

function settle(
  run: Run,
  scratch: Scratch,
  nodeId: string,
  at: string,
  change: Pick<NodeState, "status" | "outputs" | "error">,
): Run {
  const { dueAtMs: _, error: __, ...before } = nodeOf(run, nodeId) ?? { attempt: 0 };
  return withNode(run, scratch, nodeId, { ...before, ...change, endedAt: at });
}

function interruptActive(run: Run): Run["nodes"] {
  return Object.fromEntries(
    Object.entries(run.nodes).map(([id, node]) => [id, isActive(node) ? interrupted(node) : node]),
  );
}

/** A node that waits to be tried again has not begun that attempt yet. */
function interrupted({ dueAtMs: _, ...node }: NodeState): NodeState {
  return { ...node, status: "interrupted", attempt: node.status === "retrying" ? node.attempt - 1 : node.attempt };
}

function without<K extends "pause" | "pausedAt">(run: Run, key: K): Omit<Run, K> {
  const { [key]: _, ...rest } = run;
  return rest;
}

/** Numbers add up over the run; texts are the latest. */
function addCost(before: Readonly<Record<string, unknown>>, attributes: Readonly<Record<string, unknown>>) {
  const after: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(attributes)) {
    const held = after[name];
    after[name] = typeof value === "number" && typeof held === "number" ? held + value : value;
  }
  return after;
}

export function deadlineMs(run: Run): number | undefined {
  return run.limits.runDurationMs === undefined ? undefined : Date.parse(run.startedAt) + run.limits.runDurationMs;
}

/**
 * When a worker must look at the run next, or undefined when nothing will happen by itself. The value is stored
 * in the run row, which is the queue; it depends on the log alone so that the row can be rebuilt.
 */
export function wakeAtMs(run: Run): number | undefined {
  if (isTerminal(run.status)) return undefined;
  const deadline = deadlineMs(run);
  if (run.status === "paused" || run.status.startsWith("waiting-")) return deadline;
  const active = activeNodes(run).map(([, node]) => node);
  if (active.length === 0 || run.status === "cancelling") return Date.parse(run.updatedAt);
  if (active.some((node) => node.status === "executing")) return Date.parse(run.updatedAt);
  return Math.min(...active.map((node) => node.dueAtMs ?? 0), deadline ?? Number.POSITIVE_INFINITY);
}
