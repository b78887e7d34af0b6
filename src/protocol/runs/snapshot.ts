import { defined } from "../defined.ts";
import { MASK, RunError } from "../events.ts";
import { waitingChild } from "../evolve/children.ts";
import { InterruptView } from "../gates/api.ts";
import type { Interrupt } from "../gates/interrupt.ts";
import { interruptView } from "../gates/interrupt-view.ts";
import { Owner } from "../identity/identity.ts";
import { own } from "../own.ts";
import { JsonObject, open, type Static, Type } from "../schema.ts";
import { channelValue, timedEntries } from "./channel.ts";
import { isReplay } from "./forked-from.ts";
import { openInterrupts, type Run, visitOf } from "./run.ts";
import { isTerminal, isWaiting, RunStatusSchema } from "./run-status.ts";
import { withoutCredentials, withoutDeclared } from "./secret-options.ts";
import { maskError, maskFieldValues, maskValues, type Secret, sensitiveValues } from "./sensitive.ts";

const ChildRun = Type.Object(
  { runId: Type.String(), status: RunStatusSchema, workflowId: Type.String(), nodeId: Type.String() },
  open,
);

/** A run as clients read it. Open in 1.x. */
export const RunSnapshot = Type.Object(
  {
    runId: Type.String(),
    workflowId: Type.String(),
    status: RunStatusSchema,
    owner: Type.Optional(Owner),
    currentNodeId: Type.Optional(Type.String()),
    startedAt: Type.Optional(Type.String()),
    completedAt: Type.Optional(Type.String()),
    nodeStates: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "by node id; `decidedFor` names the run that a gate was decided for, where a branch keeps that decision",
      }),
    ),
    inputs: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: "of a run that another one dispatched" }),
    ),
    variables: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "with each list channel that has a time to live, as [{ value, _ts }]",
      }),
    ),
    channels: Type.Optional(JsonObject),
    outputs: Type.Optional(JsonObject),
    error: Type.Optional(Type.Omit(RunError, ["retryable"])),
    engineVersion: Type.Optional(Type.String()),
    eventLogSchemaVersion: Type.Optional(Type.Integer()),
    tags: Type.Optional(Type.Array(Type.String())),
    metadata: Type.Optional(JsonObject),
    configurable: Type.Optional(JsonObject),
    metrics: Type.Optional(JsonObject),
    runOrchestrator: Type.Optional(
      Type.Object({ agentId: Type.String() }, { additionalProperties: true, description: "who decides what is next" }),
    ),
    agent: Type.Optional(
      Type.Object({ agentId: Type.String() }, { additionalProperties: true, description: "who was asked last" }),
    ),
    interrupt: Type.Optional(InterruptView),
    interrupts: Type.Optional(Type.Array(InterruptView, { description: "all that are open, oldest first" })),
    parentRunId: Type.Optional(Type.String()),
    parentNodeId: Type.Optional(Type.String()),
    childRuns: Type.Optional(Type.Array(ChildRun)),
    stateOmitted: Type.Optional(
      Type.Object(
        { bytes: Type.Integer() },
        { description: "the state is too large for this host: values, nodes and interrupts are left out" },
      ),
    ),
  },
  open,
);
export type RunSnapshot = Static<typeof RunSnapshot>;

/** Which names of a run are masked; taken from the definition the run was started with. */
export interface Sensitivity {
  readonly variables: ReadonlySet<string>;
  /** node id → output ports */
  readonly outputs: ReadonlyMap<string, ReadonlySet<string>>;
  /** The JSON Schema of the run's options, which may declare some of them secret. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Values of a run that no surface shows. */
export function secretsOf(run: Run, sensitive: Pick<Sensitivity, "variables">): readonly Secret[] {
  return [...(run.secrets ?? []), ...sensitiveValues(run.variables, sensitive.variables)];
}

/** The one projection every surface serves. Sensitive values are masked by name and wherever they were copied to. */
export function snapshotOf(run: Run, sensitive: Sensitivity): RunSnapshot {
  const secrets = secretsOf(run, sensitive);
  const { inputs, error, outputs, tags, configurable, cost } = run;
  const names = maskedVariables(run, sensitive);
  return defined({
    runId: run.runId,
    workflowId: run.workflowId,
    status: run.status,
    owner: run.owner,
    ...waitingFor(run, secrets),
    ...relatives(run),
    startedAt: run.startedAt,
    completedAt: run.endedAt,
    nodeStates: nodeStates(run, sensitive, secrets),
    runOrchestrator: run.orchestrator && { agentId: run.orchestrator.agentId },
    ...agentOf(run),
    inputs: inputs && maskFieldValues(maskFields(inputs, names), secrets),
    variables: maskFieldValues(maskFields(shownVariables(run), names), secrets),
    channels: Object.keys(run.channels).length === 0 ? undefined : maskFieldValues(channels(run), secrets),
    error: error && maskError(publicError(error), secrets),
    engineVersion: String(run.engineVersion),
    eventLogSchemaVersion: run.eventLogSchemaVersion,
    pausedAt: run.pausedAt,
    outputs: outputs && maskFieldValues(publicOutputs(run, sensitive), secrets),
    tags: tags && maskValues([...tags], secrets),
    ...metadataOf(run, secrets),
    stateOmitted: run.stateOmitted && { ...run.stateOmitted },
    configurable: configurable && options(configurable, sensitive, secrets),
    metrics: cost && { openwopCost: maskFieldValues(openwopCost(cost), secrets) },
  });
}

function options(
  configurable: Readonly<Record<string, unknown>>,
  sensitive: Sensitivity,
  secrets: readonly Secret[],
): Record<string, unknown> {
  const shown = withoutCredentials(withoutDeclared(configurable, sensitive.options));
  return maskFieldValues({ ...(shown as Readonly<Record<string, unknown>>) }, secrets);
}

function agentOf({ agent }: Run): Pick<RunSnapshot, "agent"> {
  if (agent === undefined) return {};
  const { channels: _, open: __, called: ___, ...shown } = agent;
  return { agent: shown };
}

/** Adds the source of a fork, which no event carries; a `forkedFrom` that the starter of the run wrote is never shown. */
function metadataOf({ metadata, forkedFrom }: Run, secrets: readonly Secret[]): Partial<RunSnapshot> {
  const { forkedFrom: _claimed, ...own } = metadata ?? {};
  const given = metadata === undefined ? {} : { metadata: maskValues(own, secrets) };
  if (forkedFrom === undefined) return given;
  const { runId, fromSeq, motivatedBy } = forkedFrom;
  return { metadata: { ...given.metadata, forkedFrom: { runId, fromSeq, ...defined({ motivatedBy }) } } };
}

/** Several may be open; the first of them speaks for the run. */
function waitingFor(run: Run, secrets: readonly Secret[]): Partial<RunSnapshot> {
  const interrupts = openInterrupts(run).map((one) => interruptView(run.runId, one, secrets));
  const [interrupt] = interrupts;
  if (interrupt !== undefined) return { currentNodeId: interrupt.nodeId, interrupt, interrupts };
  const child = waitingChild(run.children);
  return child === undefined || !isWaiting(run.status) ? {} : { currentNodeId: child.nodeId };
}

function maskedVariables(run: Run, sensitive: Sensitivity): ReadonlySet<string> {
  return run.sensitive === undefined ? sensitive.variables : new Set([...sensitive.variables, ...run.sensitive]);
}

/** Children as the log knows them: of one that no node waits for it has only the start. */
function relatives({ parent, children, status }: Run): Partial<RunSnapshot> {
  const cut = status === "cancelled" || status === "failed";
  const childRuns = Object.entries(children).map(([runId, child]) => {
    const { workflowId, nodeId, waits, propagates } = child;
    const ended = cut && waits && propagates && !isTerminal(child.status);
    return { runId, status: ended ? ("cancelled" as const) : child.status, workflowId, nodeId };
  });
  return {
    ...(parent === undefined ? {} : { parentRunId: parent.runId, parentNodeId: parent.nodeId }),
    ...(childRuns.length === 0 ? {} : { childRuns }),
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
        ...decidedFor(run, id, node.interruptId),
      },
    ]),
  );
}

/** The run that a gate of a branch was decided for, where the branch keeps the decision of another run. */
function decidedFor(run: Run, nodeId: string, interruptId: string | undefined): { readonly decidedFor?: string } {
  if (isReplay(run)) return {};
  const interrupt = interruptId === undefined ? heldAt(run, nodeId) : own(run.interrupts, interruptId);
  if (interrupt?.inherited !== true || interrupt.status === "open") return {};
  const runId = interrupt.raisedIn ?? run.forkedFrom?.runId;
  return runId === undefined ? {} : { decidedFor: runId };
}

/** The decision that a gate took over without asking: it showed the same as in the source of the branch. */
function heldAt(run: Run, nodeId: string): Interrupt | undefined {
  const key = `${nodeId}:${visitOf(run, nodeId)}`;
  return Object.values(run.interrupts).find((one) => one.held === true && one.nodeId === nodeId && one.key === key);
}

/** Run outputs are outputs of nodes, so once any port is sensitive they are masked as a whole. */
export function publicOutputs(run: Run, sensitive: Sensitivity): Record<string, unknown> {
  if (sensitive.outputs.size === 0) return { ...run.outputs };
  return Object.fromEntries(Object.keys(run.outputs ?? {}).map((name) => [name, MASK]));
}

/** Variables, with the channels that have a time to live. A variable hides a channel of the same name. */
function shownVariables({ variables, channels }: Run): Readonly<Record<string, unknown>> {
  const timed = Object.entries(channels)
    .map(([name, channel]) => [name, timedEntries(channel)] as const)
    .filter(([, entries]) => entries !== undefined);
  return timed.length === 0 ? variables : { ...Object.fromEntries(timed), ...variables };
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
