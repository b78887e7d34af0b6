import { AppError, validationError } from "../../protocol/errors.ts";
import { unenforcedRule } from "../../protocol/gates/interrupt-data.ts";
import { DISPATCH, SUPERVISOR } from "../../protocol/runs/orchestrator.ts";
import { matches, parse, problemsOf } from "../../protocol/schema.ts";
import { isRecorded } from "../../protocol/tapes/api.ts";
import { WorkflowDefinition, type WorkflowNode } from "../../protocol/workflows/workflow.ts";
import { isScripted, type Script } from "../nodes/decision-source.ts";
import { GOVERNED_GATE, inVain, ONLY_GATES } from "../nodes/gate-config.ts";
import { registeredSchema } from "../schemas/decide/schema-limits.ts";
import { GATED_TYPES, type NodeTypes, type Ports } from "../worker/node-type.ts";
import { agentNamedBy, checkAgentRef } from "./check-agents.ts";
import { requireCompilable } from "./decide/definition-limits.ts";
import { compileExpression } from "./decide/expression.ts";
import { type Graph, reachableFrom } from "./decide/graph.ts";
import { compilePattern } from "./decide/pattern.ts";
import { makePlan } from "./decide/plan.ts";
import { definitionHash } from "./plans.ts";

/** Ids with this prefix are those of the host's own workflows. */
const OWN_PREFIX = "assay-";

/** Checks a definition as far as possible without a run. Throws `validation_error` and `capability_required`. */
export function checkWorkflow(nodeTypes: NodeTypes, raw: unknown): { definition: WorkflowDefinition; hash: string } {
  const definition = parse(WorkflowDefinition, raw, "workflow");
  if (isRecorded({ workflowId: definition.id })) {
    throw validationError(`the id "${definition.id}" is reserved for runs that are imported from tapes`);
  }
  if (definition.id.startsWith(OWN_PREFIX)) {
    const problem = `ids that begin with "${OWN_PREFIX}" are reserved for the host's own workflows, such as evaluations`;
    throw validationError(problem);
  }
  const hash = definitionHash(definition);
  checkSchemas(definition);
  requireCompilable(definition);
  const { graph } = makePlan(hash, definition);
  const stray = unenforcedRule(definition.settings);
  if (stray !== undefined) throw validationError(`settings of the workflow set ${stray}; ${ONLY_GATES}`);
  for (const node of definition.nodes) checkNode(nodeTypes, node, portsOf(graph, node));
  checkOrchestration(definition, graph);
  for (const edge of definition.edges) checkCondition(edge);
  return { definition, hash };
}

/** The limits of schemas are checked at registration only: older definitions stay usable. */
function checkSchemas({ configurableSchema, channels = {} }: WorkflowDefinition): void {
  if (configurableSchema !== undefined) registeredSchema(configurableSchema, "configurableSchema");
  for (const [name, { schema }] of Object.entries(channels)) {
    if (schema !== undefined) registeredSchema(schema, `the schema of channel "${name}"`);
  }
}

function portsOf(graph: Graph, { id, inputs }: WorkflowNode): Ports {
  const carried = (graph.forwardInto.get(id) ?? []).map(({ targetInput = "input" }) => [targetInput, "edge"] as const);
  return { ...Object.fromEntries(carried), ...inputs };
}

function checkNode(nodeTypes: NodeTypes, node: WorkflowNode, ports: Ports): void {
  const lacks = (requiredCapability: string): never => {
    throw new AppError("capability_required", { nodeId: node.id, offendingTypeId: node.typeId, requiredCapability });
  };
  const type = nodeTypes.get(node.typeId) ?? lacks(GATED_TYPES[node.typeId] ?? `node type ${node.typeId}`);
  if (type.hostOnly === true) lacks(`node type ${node.typeId}`);
  checkAgentRef(type, node, lacks);
  for (const [key, capability] of Object.entries(type.gatedConfig ?? {})) {
    if (Object.hasOwn(node.config, key)) lacks(capability);
  }
  if (!matches(type.config, node.config)) {
    const [first] = problemsOf(type.config, node.config);
    throw validationError(
      `config of node "${node.id}" (${node.typeId})${first?.path ?? ""} ${first?.problem ?? "does not match"}`,
    );
  }
  const problem = type.check?.(node.config, ports) ?? strayRule(node);
  if (problem !== undefined) throw validationError(`config of node "${node.id}" (${node.typeId}) ${problem}`);
  for (const from of Object.values(node.inputs)) if (from.type === "expression") compileExpression(from.expression);
}

/** The node types that take rules of gates from their config. */
const GATES: ReadonlySet<string> = new Set(["core.approvalGate", GOVERNED_GATE]);

function strayRule({ typeId, config, settings = {} }: WorkflowNode): string | undefined {
  const inSettings = unenforcedRule(settings);
  if (inSettings !== undefined) return `has a rule of gates in its settings, ${inSettings}, which would not be held to`;
  return GATES.has(typeId) ? undefined : inVain(config, ONLY_GATES);
}

function checkCondition(edge: WorkflowDefinition["edges"][number]): void {
  const { condition } = edge;
  if (condition === undefined) return;
  const refuse = (problem: string): never => {
    throw validationError(`condition of edge "${edge.id}" ${problem}`);
  };
  const type = condition.type ?? (condition.expression === undefined ? "truthy" : "expression");
  if (type === "expression") {
    compileExpression(condition.expression ?? refuse("needs an expression"));
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

/** A workflow has at most one supervisor, and its dispatches come after it, so that no decision is made while a dispatch is at work. */
function checkOrchestration({ nodes }: WorkflowDefinition, graph: Graph): void {
  const [supervisor, another] = nodes.filter(({ typeId }) => typeId === SUPERVISOR);
  if (another !== undefined) refuse(`has two supervisors, "${supervisor?.id}" and "${another.id}"; a run has one`);
  const after = new Set(supervisor === undefined ? [] : reachableFrom(graph, supervisor.id));
  for (const { id, typeId } of nodes) {
    if (typeId === DISPATCH && !after.has(id)) refuse(`has no supervisor before its dispatch "${id}"`);
  }
  if (supervisor === undefined) return;
  const { agentId } = agentNamedBy(supervisor) ?? {};
  if (agentId === undefined) return;
  if (agentId !== (supervisor.config["agentId"] ?? agentId)) {
    refuse(`names two agents at "${supervisor.id}", in agent and in config.agentId; one of them decides`);
  }
  if (isScripted(supervisor.config as Script)) return;
  // An agent that could name any workflow of its tenant could be persuaded to run any of them.
  if (supervisor.config["workers"] === undefined) {
    refuse(`lets an agent decide at "${supervisor.id}" without naming workers; list them in config.workers`);
  }
}

function refuse(problem: string): never {
  throw validationError(`the workflow ${problem}`);
}
