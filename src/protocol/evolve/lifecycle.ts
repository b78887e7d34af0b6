import { defined } from "../defined.ts";
import { ENGINE_VERSION, EVENT_LOG_SCHEMA_VERSION, type PayloadOf, type RunEvent } from "../events.ts";
import { forkedFromOf, startedByOf } from "../runs/forked-from.ts";
import type { Run } from "../runs/run.ts";
import { withoutState } from "../runs/run-head.ts";
import { traceOf } from "../runs/trace.ts";
import { parentOf } from "./children.ts";

/** A run after its first event. */
export function started(event: Extract<RunEvent, { type: "run.started" }>): Run {
  const payload = event.sealed ?? event.payload;
  const { callbackUrl, sensitiveInputs, configurable, tags, metadata } = payload;
  const fork = forkedFromOf(event.sealed);
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
    visits: {},
    interrupts: {},
    children: {},
    // The run that dispatched the source waits for the source.
    ...(fork.forkedFrom === undefined ? parentOf(payload) : fork),
    ...(payload.parentRunId === undefined ? {} : { inputs: payload.inputs }),
    ...startedByOf(event.sealed),
    ...traceOf(event.sealed),
    ...defined({ callbackUrl, sensitive: sensitiveInputs, configurable, tags, metadata }),
  };
}

type Repair = Extract<RunEvent, { type: "assay.state.dropped" | "assay.times.corrected" }>;

/** The run after its host has repaired what it could not go on with. */
export function repaired(run: Run, event: Repair): Run {
  if (event.type === "assay.state.dropped") return withoutState(run, event.payload.bytes);
  return withEarlierTimes(run, event);
}

/**
 * The run with the times of what it waits for earlier by as much as its last event was ahead. Only times that the wrong clock has written are moved:
 * of what began in the future, and what is due after the last event although it began before, such as a retry. A deadline that a right clock
 * has set stays.
 */
function withEarlierTimes(run: Run, { payload, timestamp }: Extract<Repair, { type: "assay.times.corrected" }>): Run {
  const { byMs } = payload;
  const nowMs = Date.parse(timestamp);
  const lastMs = Date.parse(payload.writtenAt);
  const isAhead = (text: string | undefined): boolean => text !== undefined && Date.parse(text) > nowMs;
  const instant = (text: string): string => (isAhead(text) ? new Date(Date.parse(text) - byMs).toISOString() : text);

  const interrupts = Object.entries(run.interrupts).map(([id, one]) => {
    const isMoved = one.status === "open" && one.deadlineMs !== undefined && isAhead(one.requestedAt);
    return [id, isMoved ? { ...one, deadlineMs: (one.deadlineMs ?? 0) - byMs } : one] as const;
  });
  const open = new Map(interrupts);
  const nodes = Object.entries(run.nodes).map(([id, node]) => {
    const { dueAtMs, startedAt, status, interruptId = "" } = node;
    if (dueAtMs === undefined) return [id, node] as const;
    const isMoved = isAhead(startedAt) || dueAtMs >= lastMs;
    const ownMs = isMoved ? dueAtMs - byMs : dueAtMs;
    const due = status === "suspended" ? (open.get(interruptId)?.deadlineMs ?? ownMs) : ownMs;
    return [id, { ...node, dueAtMs: due }] as const;
  });
  const { forkedFrom } = run;
  return {
    ...run,
    startedAt: instant(run.startedAt),
    ...defined({ forkedFrom: forkedFrom && { ...forkedFrom, at: instant(forkedFrom.at) } }),
    nodes: Object.fromEntries(nodes),
    interrupts: Object.fromEntries(interrupts),
  };
}

/** `parentRunId` and `parentNodeId` in a cascade only. */
export interface Cancellation {
  readonly by: string;
  readonly reason?: string;
  readonly parentRunId?: string;
  readonly parentNodeId?: string;
}

export function cancellationOf({
  cancelledBy,
  reason,
  parentRunId,
  parentNodeId,
}: PayloadOf<"run.cancelled">): Cancellation {
  return { by: cancelledBy ?? "unknown", ...defined({ reason, parentRunId, parentNodeId }) };
}
