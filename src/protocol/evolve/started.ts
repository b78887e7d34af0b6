import { ENGINE_VERSION, EVENT_LOG_SCHEMA_VERSION, type RunEvent } from "../events.ts";
import { forkedFromOf, startedByOf } from "../runs/forked-from.ts";
import type { Run } from "../runs/run.ts";
import { traceOf } from "../runs/trace.ts";
import { parentOf } from "./children.ts";

/** A run after its first event. */
export function started(event: Extract<RunEvent, { type: "run.started" }>): Run {
  const payload = event.sealed ?? event.payload;
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
    ...(payload.callbackUrl === undefined ? {} : { callbackUrl: payload.callbackUrl }),
    ...(payload.sensitiveInputs === undefined ? {} : { sensitive: payload.sensitiveInputs }),
    ...(payload.configurable === undefined ? {} : { configurable: payload.configurable }),
    ...(payload.tags === undefined ? {} : { tags: payload.tags }),
    ...(payload.metadata === undefined ? {} : { metadata: payload.metadata }),
  };
}
