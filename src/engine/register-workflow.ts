import type { RegisterWorkflowResponse } from "../protocol/api.ts";
import { AppError } from "../protocol/errors.ts";
import type { Caller } from "../protocol/identity.ts";
import { parse } from "../protocol/schema.ts";
import { matches, problemsOf } from "../protocol/schema.ts";
import { WorkflowDefinition } from "../protocol/workflow.ts";
import { HOST_WIDE, type WorkflowWrite } from "../store/store.ts";
import { compileExpression } from "./decide/expression.ts";
import { compilePattern } from "./decide/pattern.ts";
import { makePlan } from "./decide/plan.ts";
import { auditDraft, type Recorder, refused } from "./execute.ts";
import type { Host } from "./host.ts";
import { GATED_TYPES, type NodeTypes } from "./node-type.ts";
import { definitionHash } from "./plans.ts";

export interface RegisterWorkflow {
  readonly caller: Caller;
  readonly definition: unknown;
  /** The author's own text; what GET returns. */
  readonly text: string;
  readonly record: Recorder<RegisterWorkflowResponse>;
}

/** Registers for the caller's tenant, where it shadows a host-wide definition of the same id. */
export async function registerWorkflow(host: Host, command: RegisterWorkflow): Promise<RegisterWorkflowResponse> {
  const { caller } = command;
  const { definition, hash } = checkWorkflow(host.nodeTypes, host.runtimeCapabilities, command.definition);
  const standing = await host.store.readWorkflow(caller.tenant, definition.id);
  const response: RegisterWorkflowResponse = {
    workflowId: definition.id,
    version: definition.version,
    hash,
    created: standing?.hash !== hash,
  };
  const outcome = command.record(response);
  const atMs = host.nowMs();
  const write: WorkflowWrite = { tenant: caller.tenant, workflowId: definition.id, hash, definition: command.text, atMs };
  const committed = await host.store.commit({
    tenant: caller.tenant,
    workflows: [write],
    audit: [auditDraft(caller, atMs, definition.id, { action: "workflow.registered", details: { hash } })],
    ...(outcome === undefined ? {} : { idempotency: outcome }),
  });
  if (!committed.ok) throw refused(committed.refusal);
  return response;
}

/** A definition from `--workflows`, for every tenant. The caller names the file when this throws. */
export function hostWideWorkflow(host: Host, raw: unknown, text: string): WorkflowWrite {
  const { definition, hash } = checkWorkflow(host.nodeTypes, host.runtimeCapabilities, raw);
  return { tenant: HOST_WIDE, workflowId: definition.id, hash, definition: text, atMs: host.nowMs() };
}

/** Everything that can be known before a run exists is refused here, not when a run meets it. */
export function checkWorkflow(
  nodeTypes: NodeTypes,
  _provided: ReadonlySet<string>,
  raw: unknown,
): { definition: WorkflowDefinition; hash: string } {
  const definition = parse(WorkflowDefinition, raw, "workflow");
  const hash = definitionHash(definition);
  makePlan(hash, definition);
  for (const node of definition.nodes) checkNode(nodeTypes, node);
  for (const edge of definition.edges) checkCondition(edge);
  return { definition, hash };
}

function checkNode(nodeTypes: NodeTypes, node: WorkflowDefinition["nodes"][number]): void {
  const gate = GATED_TYPES[node.typeId];
  const type = nodeTypes.get(node.typeId);
  if (!type) {
    throw new AppError("capability_required", {
      nodeId: node.id,
      offendingTypeId: node.typeId,
      requiredCapability: gate ?? `node type ${node.typeId}`,
    });
  }
  if (node.agent?.channel !== undefined) {
    throw new AppError("validation_error", {
      problem: `node "${node.id}" names an agent channel; this host does not serve agents.deployment`,
    });
  }
  if (!matches(type.config, node.config)) {
    const [first] = problemsOf(type.config, node.config);
    throw new AppError("validation_error", {
      problem: `config of node "${node.id}" (${node.typeId})${first?.path ?? ""} ${first?.problem ?? "does not match"}`,
    });
  }
  for (const from of Object.values(node.inputs)) if (from.type === "expression") compileExpression(from.expression);
}

function checkCondition(edge: WorkflowDefinition["edges"][number]): void {
  const { condition } = edge;
  if (condition === undefined) return;
  const refuse = (problem: string): never => {
    throw new AppError("validation_error", { problem: `condition of edge "${edge.id}" ${problem}` });
  };
  const type = condition.type ?? (condition.expression === undefined ? "truthy" : "expression");
  if (type === "expression") {
    if (condition.expression === undefined) return refuse("needs an expression");
    compileExpression(condition.expression);
    return;
  }
  if (condition.left === undefined) refuse(`of type ${type} needs a left operand`);
  if (type === "truthy" || type === "falsy") {
    if (condition.right !== undefined) refuse(`of type ${type} takes no right operand`);
    return;
  }
  if (!Object.hasOwn(condition, "right")) refuse(`of type ${type} needs a right operand`);
  if (type === "regex") {
    if (typeof condition.right !== "string") refuse("of type regex needs a pattern as its right operand");
    compilePattern(String(condition.right));
  }
}
