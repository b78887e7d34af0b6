import type { EventDraft, RunError } from "../../../protocol/events.ts";
import { DISPATCH, SUPERVISOR } from "../../../protocol/runs/orchestrator.ts";
import { nodeOf, type Run, visitOf } from "../../../protocol/runs/run.ts";
import type { WorkflowNode } from "../../../protocol/workflows/workflow.ts";
import type { Plan } from "../../workflows/decide/plan.ts";
import { failRun } from "./end-run.ts";

/** The facts besides the run that decide whether a node may begin. */
interface Dispatch {
  readonly known: boolean;
  /** Capabilities the node's type requires and the host does not provide. */
  readonly missing: readonly string[];
  /** The limit of its loop that it would exceed. */
  readonly breach?: LoopBreach;
  /** The model capabilities that the node requires and the host's model lacks. */
  readonly lacking?: Lacking;
}

export interface Lacking {
  readonly provider: string;
  readonly model: string;
  readonly missingCapabilities: readonly string[];
}

/** `node.started`, or the end of the run where the node may not begin; it is not executed then. */
export function beginNode(run: Run, node: WorkflowNode, attempt: number, dispatch: Dispatch): EventDraft[] {
  const nodeId = node.id;
  if (run.executions >= run.limits.nodeExecutions) {
    const limit = run.limits.nodeExecutions;
    const message = `The run may execute ${limit} nodes; node ${nodeId} would be one more.`;
    return [
      { type: "cap.breached", nodeId, payload: { kind: "node-executions", limit, observed: limit + 1, nodeId } },
      ...failRun(run, { code: "recursion_limit_exceeded", message }, nodeId),
    ];
  }
  const { breach, lacking } = dispatch;
  if (breach !== undefined) {
    const message = `The loop of node ${nodeId} may go round ${breach.limit} times.`;
    return [
      { type: "cap.breached", nodeId, payload: { ...breach, nodeId } },
      ...failRun(run, { code: "loop_limit_exceeded", message }, nodeId),
    ];
  }
  if (!dispatch.known) {
    return refuse(run, node, { code: "node_type_unknown", message: `No executor for node type ${node.typeId}.` });
  }
  if (dispatch.missing.length > 0) {
    const message = `Node ${nodeId} requires ${dispatch.missing.join(", ")}, which this host does not provide.`;
    const details = { nodeId, missing: [...dispatch.missing] };
    return refuse(run, node, { code: "capability_not_provided", message, details });
  }
  if (lacking !== undefined) return insufficient(run, node, lacking);
  return [{ type: "node.started", nodeId, payload: { nodeId, typeId: node.typeId, attempt } }];
}

function insufficient(run: Run, node: WorkflowNode, { provider, model, missingCapabilities }: Lacking): EventDraft[] {
  const nodeId = node.id;
  const missing = [...missingCapabilities];
  const message = `Node ${nodeId} requires a model with ${missing.join(", ")}, which this host does not have.`;
  const payload = { nodeId, provider, model, missingCapabilities: missing, fallbackAttempted: false };
  return [
    { type: "model.capability.insufficient", nodeId, payload },
    ...refuse(run, node, { code: "capability_not_provided", message, details: { nodeId, missing } }),
  ];
}

function refuse(run: Run, node: WorkflowNode, error: RunError): EventDraft[] {
  const nodeId = node.id;
  return [{ type: "node.failed", nodeId, payload: { nodeId, error, attempts: 1 } }, ...failRun(run, error, nodeId)];
}

interface LoopBreach {
  readonly kind: "loop-iterations" | "dispatch-iterations";
  readonly limit: number;
  readonly observed: number;
}

/** The limit of a supervisor and its dispatches that one more execution would exceed; undefined within the limits. */
export function loopBreach(plan: Plan, run: Run, { typeId, config }: WorkflowNode): LoopBreach | undefined {
  if (typeId === SUPERVISOR) {
    const limit = run.configurable?.["maxLoopIterations"];
    return beyond("loop-iterations", limit, (run.orchestrator?.turns ?? 0) + 1);
  }
  // Ending the loop is no further round.
  if (typeId !== DISPATCH || run.orchestrator?.decision.kind === "terminate") return undefined;
  return beyond("dispatch-iterations", config["iterationCap"], dispatches(plan, run) + 1);
}

function beyond(kind: LoopBreach["kind"], limit: unknown, observed: number): LoopBreach | undefined {
  return typeof limit === "number" && observed > limit ? { kind, limit, observed } : undefined;
}

/** How often dispatches of the run have begun before; repeated attempts do not count. */
function dispatches(plan: Plan, run: Run): number {
  const all = plan.graph.order.filter(({ typeId }) => typeId === DISPATCH);
  const settledBefore = (id: string) => visitOf(run, id) + (isOver(run, id) ? 1 : 0);
  return all.reduce((count, { id }) => count + settledBefore(id), 0);
}

function isOver(run: Run, nodeId: string): boolean {
  const status = nodeOf(run, nodeId)?.status;
  return status === "completed" || status === "failed";
}
