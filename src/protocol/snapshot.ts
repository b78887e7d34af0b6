import { channelValue } from "./channel.ts";
import { MASK, RunError } from "./events.ts";
import { Owner } from "./identity.ts";
import type { Run } from "./run.ts";
import { RunStatusSchema } from "./run-status.ts";
import { type Static, Type } from "./schema.ts";
import { maskError, maskFieldValues, maskValues, type Secret, sensitiveValues } from "./sensitive.ts";

const JsonObject = Type.Record(Type.String(), Type.Unknown());

/** What a client reads of a run. Open in 1.x. */
export const RunSnapshot = Type.Object(
  {
    runId: Type.String(),
    workflowId: Type.String(),
    status: RunStatusSchema,
    owner: Type.Optional(Owner),
    currentNodeId: Type.Optional(Type.String()),
    startedAt: Type.Optional(Type.String()),
    completedAt: Type.Optional(Type.String()),
    nodeStates: Type.Optional(JsonObject),
    variables: Type.Optional(JsonObject),
    channels: Type.Optional(JsonObject),
    error: Type.Optional(Type.Omit(RunError, ["retryable"])),
    engineVersion: Type.Optional(Type.String()),
    eventLogSchemaVersion: Type.Optional(Type.Integer()),
    tags: Type.Optional(Type.Array(Type.String())),
    metadata: Type.Optional(JsonObject),
    configurable: Type.Optional(JsonObject),
    metrics: Type.Optional(JsonObject),
  },
  { additionalProperties: true },
);
export type RunSnapshot = Static<typeof RunSnapshot>;

/** Which names of a run are masked; taken from the definition the run was started with. */
export interface Sensitivity {
  readonly variables: ReadonlySet<string>;
  /** node id → output ports */
  readonly outputs: ReadonlyMap<string, ReadonlySet<string>>;
}

export const NOTHING_SENSITIVE: Sensitivity = { variables: new Set(), outputs: new Map() };

/** The one projection every surface serves. Sensitive values are masked by name and wherever they were copied to. */
export function snapshotOf(run: Run, sensitive: Sensitivity): RunSnapshot {
  const secrets = [...(run.secrets ?? []), ...sensitiveValues(run.variables, sensitive.variables)];
  return {
    runId: run.runId,
    workflowId: run.workflowId,
    status: run.status,
    owner: run.owner,
    startedAt: run.startedAt,
    ...(run.endedAt === undefined ? {} : { completedAt: run.endedAt }),
    nodeStates: nodeStates(run, sensitive, secrets),
    variables: maskFieldValues(maskFields(run.variables, sensitive.variables), secrets),
    ...(Object.keys(run.channels).length === 0 ? {} : { channels: maskFieldValues(channels(run), secrets) }),
    ...(run.error === undefined ? {} : { error: maskError(publicError(run.error), secrets) }),
    engineVersion: String(run.engineVersion),
    eventLogSchemaVersion: run.eventLogSchemaVersion,
    ...(run.pausedAt === undefined ? {} : { pausedAt: run.pausedAt }),
    ...(run.outputs === undefined ? {} : { outputs: maskFieldValues(publicOutputs(run, sensitive), secrets) }),
    ...(run.tags === undefined ? {} : { tags: maskValues([...run.tags], secrets) }),
    ...(run.metadata === undefined ? {} : { metadata: maskValues({ ...run.metadata }, secrets) }),
    ...(run.configurable === undefined ? {} : { configurable: maskFieldValues({ ...run.configurable }, secrets) }),
    ...(run.cost === undefined ? {} : { metrics: { openwopCost: maskFieldValues(openwopCost(run.cost), secrets) } }),
  };
}

export function maskFields(
  fields: Readonly<Record<string, unknown>>,
  names: ReadonlySet<string> | undefined,
): Record<string, unknown> {
  if (names === undefined || names.size === 0) return fields as Record<string, unknown>;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, names.has(name) ? MASK : value]));
}

function nodeStates(run: Run, sensitive: Sensitivity, secrets: readonly Secret[]): Record<string, unknown> {
  const shownOutputs = (id: string, outputs: Readonly<Record<string, unknown>>) =>
    maskFieldValues(maskFields(outputs, sensitive.outputs.get(id)), secrets);
  return Object.fromEntries(
    Object.entries(run.nodes).map(([id, { dueAtMs, outputs, error, ...node }]) => [
      id,
      {
        ...node,
        ...(error === undefined ? {} : { error: maskError(error, secrets) }),
        ...(dueAtMs === undefined ? {} : { dueAt: new Date(dueAtMs).toISOString() }),
        ...(outputs === undefined ? {} : { outputs: shownOutputs(id, outputs) }),
      },
    ]),
  );
}

/** Run outputs are outputs of nodes, so once any port is sensitive they are masked as a whole. */
function publicOutputs(run: Run, sensitive: Sensitivity): Record<string, unknown> {
  if (sensitive.outputs.size === 0) return { ...run.outputs };
  return Object.fromEntries(Object.keys(run.outputs ?? {}).map((name) => [name, MASK]));
}

function channels(run: Run): Record<string, unknown> {
  return Object.fromEntries(Object.entries(run.channels).map(([name, channel]) => [name, channelValue(channel)]));
}

function publicError(error: RunError): Omit<RunError, "retryable"> {
  const { retryable: _, ...shown } = error;
  return shown;
}

function openwopCost(cost: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const input = cost["openwop.cost.tokens.input"];
  const output = cost["openwop.cost.tokens.output"];
  const tokens = {
    ...(typeof input === "number" ? { input } : {}),
    ...(typeof output === "number" ? { output } : {}),
  };
  const shown: Record<string, unknown> = {};
  for (const name of ["usd", "model", "provider", "duration_ms"]) {
    const value = cost[`openwop.cost.${name}`];
    if (value !== undefined) shown[name] = value;
  }
  return Object.keys(tokens).length > 0 ? { ...shown, tokens } : shown;
}
