import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EventDraft, PayloadOf, RunError } from "../../protocol/events.ts";
import { own } from "../../protocol/own.ts";
import { startersOf } from "../../protocol/runs/forked-from.ts";
import { workersOf } from "../../protocol/runs/orchestrator.ts";
import type { Child, Run } from "../../protocol/runs/run.ts";
import { handOver } from "../../protocol/runs/sensitive.ts";
import { maskFields, publicOutputs } from "../../protocol/runs/snapshot.ts";
import type { RunWrite } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { SUB_WORKFLOW } from "../nodes/sub-workflow.ts";
import { unfollowed } from "../runs/decide/edge-outcomes.ts";
import { type Dispatching, sensitiveIn } from "../runs/decide/settle-node.ts";
import { startRun } from "../runs/decide/start-run.ts";
import { mayTake, sizeOf } from "../runs/run-size.ts";
import { sealedTrace, traceBelow } from "../runs/run-trace.ts";
import { stamp } from "../runs/stamp.ts";
import type { NodeOutcome } from "../worker/node-type.ts";
import { roomOf } from "../worker/run-room.ts";
import { isStartable, type Plan } from "../workflows/decide/plan.ts";

/** The present plans of the workflows that the nodes of a plan may dispatch, by workflow id. */
export type ChildPlans = ReadonlyMap<string, Plan | undefined>;

/** Reads the plans that the next turn may dispatch. `deciding` are outcomes that the turn is about to settle. */
export async function childPlansOf(
  host: Host,
  run: Run,
  plan: Plan,
  deciding: readonly NodeOutcome[] = [],
): Promise<ChildPlans> {
  const { tenant } = run.owner;
  const called = plan.graph.order.filter(isSubWorkflow).map(({ config }) => String(config["workflowId"]));
  const ids = new Set([...called, ...dispatchableWorkflows(run, deciding)]);
  const found = await Promise.all([...ids].map(async (id) => [id, await host.plans.current(tenant, id)] as const));
  return new Map(found.map(([id, child]) => [id, child && isHostOnly(host, child) ? undefined : child]));
}

/** Whether only the host starts such runs: evaluations, calibrations, deployments. */
export function isHostOnly({ nodeTypes }: Pick<Host, "nodeTypes">, { definition }: Plan): boolean {
  return definition.nodes.some(({ typeId }) => nodeTypes.get(typeId)?.hostOnly === true);
}

function isSubWorkflow({ typeId }: { readonly typeId: string }): boolean {
  return typeId === SUB_WORKFLOW;
}

type RunStarted = Extract<EventDraft, { type: "run.started" }>;

interface Started {
  readonly childRunId: string;
  readonly events: EventDraft[];
  /** Absent when the node had a child already. */
  readonly write?: RunWrite;
}

/** Ancestors of a run, at most: a workflow that dispatches itself must come to an end. */
const DEPTH_MAX = 16;

/** The first event of a child, and the events of its parent about it. */
export function startChild(
  host: Host,
  plan: Plan,
  run: Run,
  nodeId: string,
  outcome: Dispatching,
  plans: ChildPlans,
): Started | { readonly error: RunError } {
  const { workflowId, waits, propagates, takes } = outcome;
  const linked = (childRunId: string): EventDraft => ({
    type: "assay.child.started",
    nodeId,
    payload: { nodeId, childRunId, childWorkflowId: workflowId, waits, propagates, takes: [...takes] },
  });
  if (outcome.childRunId !== undefined) return { childRunId: outcome.childRunId, events: [linked(outcome.childRunId)] };
  const depth = (run.parent?.depth ?? 0) + 1;
  if (depth > DEPTH_MAX) {
    const message = `Node ${nodeId} would dispatch a run below ${DEPTH_MAX} others.`;
    return { error: { code: "subworkflow_depth_exceeded", message } };
  }
  const begun = firstEvent(host, run, nodeId, outcome, plans.get(workflowId), depth);
  if ("error" in begun) return begun;
  const started = sealedStarters(run, hidden(begun, run, sensitiveInputs(plan, run, nodeId, outcome)));
  const first = sealedTrace(started, traceBelow(run));
  const childRunId = host.newId("run");
  const { run: child, events } = stamp(undefined, [first], {
    runId: childRunId,
    nowMs: host.nowMs(),
    newId: host.newId,
  });
  const dispatched: EventDraft = {
    type: "node.dispatched",
    nodeId,
    payload: { childRunId, childWorkflowId: workflowId, childStatus: child.status },
  };
  const write = { runId: childRunId, expectedVersion: 0, events, run: child };
  return { childRunId, events: [linked(childRunId), dispatched], write };
}

/** The starters of a run are starters of its children; most runs have none but their owner. */
function sealedStarters(run: Run, first: RunStarted): RunStarted {
  const { startedBy, starters } = run;
  if (startedBy === undefined && starters === undefined) return first;
  const names = defined({ startedBy, starters: startersOf(run) });
  return { ...first, sealed: { ...(first.sealed ?? first.payload), ...names } };
}

function firstEvent(
  host: Host,
  run: Run,
  nodeId: string,
  { workflowId, inputs, inputsFrom }: Dispatching,
  plan: Plan | undefined,
  depth: number,
): RunStarted | { readonly error: RunError } {
  const refused = (problem: string) => ({
    error: { code: "child_not_started", message: `Node ${nodeId} could not start ${workflowId}: ${problem}.` },
  });
  if (plan === undefined) return refused("no workflow of that name is registered");
  if (!isStartable(plan)) return refused("it is not active");
  const { owner, tags, callbackUrl } = run;
  const request = defined({ inputs: { ...inputs }, tags: tags && [...tags], callbackUrl });
  const rootRunId = run.parent?.rootRunId ?? run.runId;
  const parent = { runId: run.runId, nodeId, depth, rootRunId };
  try {
    // An input that is mapped from a variable without a value has no value in the child, not even its default.
    const unset = Object.keys(inputsFrom).filter((name) => !Object.hasOwn(inputs, name));
    return startRun(plan, { request, owner, limits: host.limits, parent, unset });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return refused(error.message);
  }
}

/** The inputs from values that the parent masks by name, through a mapping or a port of the node. */
function sensitiveInputs(plan: Plan, run: Run, nodeId: string, { inputs, inputsFrom }: Dispatching): string[] {
  const ports = plan.graph.node.get(nodeId)?.inputs ?? {};
  const isSensitive = sensitiveIn(plan, run);
  return Object.keys(inputs).filter((name) => {
    const variable = own(inputsFrom, name);
    if (variable !== undefined && own(run.variables, variable) !== undefined) return isSensitive(variable);
    const port = own(ports, name);
    if (port?.type === "variable") return isSensitive(port.variableName);
    return port?.type === "connection" && plan.sensitivity.outputs.get(port.nodeId)?.has(port.outputKey) === true;
  });
}

/** The first event of a child with the masked values of its parent masked too, by name and by value. */
function hidden({ type, payload, sealed }: RunStarted, run: Run, names: readonly string[]): RunStarted {
  const sensitive = names.length === 0 ? {} : { sensitiveInputs: [...names] };
  const all = { ...(sealed ?? payload), ...sensitive };
  const shown = { ...payload, inputs: maskFields(payload.inputs, new Set(names)), ...sensitive };
  return { type, ...handOver(all, shown, run.secrets ?? []) };
}

type Ended = PayloadOf<"assay.child.ended">;

/** The event in a parent about the end of its child, with the child's outputs and the variables that the parent takes. */
export async function childEnded(host: Host, parent: Run, { nodeId, takes }: Child, child: Run): Promise<EventDraft> {
  const { runId: childRunId, secrets = [] } = child;
  const ended = { nodeId, childRunId, status: child.status as Ended["status"] };
  if (child.status !== "completed") {
    // The error of a run is stored as it is shown, so it has no secrets.
    return { type: "assay.child.ended", nodeId, payload: { ...ended, ...defined({ error: child.error }) } };
  }
  const plan = await host.plans.byHash(child.workflowHash);
  // A gate at the end of the child was not passed, so the parent must not continue either.
  const refined = unfollowed(plan, child);
  if (refined !== undefined) return { type: "assay.child.ended", nodeId, payload: { ...ended, error: refined } };
  const given = takes.filter((name) => own(child.variables, name) !== undefined);
  const variables = Object.fromEntries(given.map((name) => [name, child.variables[name]]));
  const sensitive = given.filter(sensitiveIn(plan, child));
  const payload: Ended = {
    ...ended,
    outputs: publicOutputs(child, plan.sensitivity),
    variables,
    ...(sensitive.length === 0 ? {} : { sensitive }),
  };
  if (!fits(parent, payload, roomOf(host).maxRunBytes)) {
    const message = `With what run ${childRunId} brings, the run would hold more than this host can keep.`;
    return { type: "assay.child.ended", nodeId, payload: { ...ended, error: { code: "run_too_large", message } } };
  }
  const shown = { ...payload, variables: maskFields(variables, new Set(sensitive)) };
  return { type: "assay.child.ended", nodeId, ...handOver(payload, shown, secrets) };
}

/** Whether the results of a child fit into its parent: many children must not make it too large to be read. */
function fits({ nodes, variables, channels, children }: Run, payload: Ended, bytesMax: number): boolean {
  return mayTake(sizeOf([nodes, variables, channels, children], bytesMax), sizeOf(payload, bytesMax), bytesMax);
}

/**
 * The workflows that a turn may dispatch for a supervisor: those that it decided on last, or does in this very turn. A
 * turn waits for nothing, so whatever it needs to know of them is read before it.
 */
function dispatchableWorkflows({ orchestrator }: Run, deciding: readonly NodeOutcome[]): string[] {
  const last = orchestrator === undefined ? [] : [orchestrator.decision];
  const made = deciding.flatMap((outcome) => (outcome.type === "completed" ? (outcome.events ?? []) : []));
  const now = made.flatMap((event) => (event.type === "runOrchestrator.decided" ? [event.payload.decision] : []));
  return [...last, ...now].flatMap(workersOf);
}
