import type { EventDraft, RunError } from "../../../protocol/events.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import type { WorkflowNode } from "../../../protocol/workflows/workflow.ts";
import { failRun } from "./end-run.ts";
import type { LoopBreach } from "./loop-breach.ts";

/** What beginning a node depends on besides the run. */
interface Dispatch {
  readonly known: boolean;
  /** Capabilities the node's type requires and the host does not provide. */
  readonly missing: readonly string[];
  /** A limit of the loop that it is part of, when it would go beyond that. */
  readonly breach?: LoopBreach;
  /** What the node asks of a model, where there is none that can do it. */
  readonly lacking?: Lacking;
}

export interface Lacking {
  readonly provider: string;
  readonly model: string;
  readonly missingCapabilities: readonly string[];
}

/** `node.started`, or the end of the run when the node may not be dispatched. Its executor is not called then. */
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
  const failed: EventDraft = {
    type: "node.failed",
    nodeId: node.id,
    payload: { nodeId: node.id, error, attempts: 1 },
  };
  return [failed, ...failRun(run, error, node.id)];
}
