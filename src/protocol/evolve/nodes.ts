import { own } from "../own.ts";
import { isActive, type NodeState } from "../runs/node-state.ts";
import type { Secret } from "../runs/sensitive.ts";
import type { Gathered } from "./secrets.ts";

type Nodes = Readonly<Record<string, NodeState>>;

/**
 * The nodes that a fold of several events has copied for itself. They are changed in place from then on: a copy for
 * each event would make a workflow of thousands of nodes cost the square of that. Runs in between share them.
 */
export interface Scratch {
  nodes?: Record<string, NodeState>;
  /** Set where the runs in between are seen by nothing: then the following are changed in place as well. */
  readonly isFold?: true;
  variables?: Record<string, unknown>;
  secrets?: Gathered<Secret>;
  sensitive?: Gathered<string>;
}

/** The members that may still be changed in place after the run was read. */
export function onceSeen({ nodes }: Scratch): Scratch {
  return nodes === undefined ? {} : { nodes };
}

export function withVariable(
  variables: Readonly<Record<string, unknown>>,
  scratch: Scratch,
  name: string,
  value: unknown,
): Readonly<Record<string, unknown>> {
  if (scratch.isFold && scratch.variables === variables && name !== "__proto__") {
    scratch.variables[name] = value;
    return scratch.variables;
  }
  scratch.variables = { ...variables, [name]: value };
  return scratch.variables;
}

export function withNode<R extends { readonly nodes: Nodes }>(
  run: R,
  scratch: Scratch,
  id: string,
  node: NodeState,
): R {
  // Assigning to this one name would not add a node.
  if (id === "__proto__" || scratch.nodes === undefined || scratch.nodes !== run.nodes) {
    scratch.nodes = { ...run.nodes, [id]: node };
  } else {
    scratch.nodes[id] = node;
  }
  return { ...run, nodes: scratch.nodes };
}

export function changeNode<R extends { readonly nodes: Nodes }>(
  run: R,
  scratch: Scratch,
  id: string,
  change: (node: NodeState) => NodeState,
): R {
  return withNode(run, scratch, id, change(own(run.nodes, id) ?? { status: "executing", attempt: 0 }));
}

/** The nodes are as if they had never begun, and what they come to next is another visit. */
export function startOver(
  { nodes, visits }: { readonly nodes: Nodes; readonly visits: Readonly<Record<string, number>> },
  nodeIds: readonly string[],
): { readonly nodes: Nodes; readonly visits: Readonly<Record<string, number>> } {
  const again = new Set(nodeIds);
  const counted = Object.fromEntries([...again].map((id) => [id, (own(visits, id) ?? 0) + 1]));
  return {
    nodes: Object.fromEntries(Object.entries(nodes).filter(([id]) => !again.has(id))),
    visits: { ...visits, ...counted },
  };
}

/** The node has come to its end. */
export function settled(
  before: NodeState | undefined,
  at: string,
  change: Pick<NodeState, "status" | "outputs" | "error" | "verdict">,
): NodeState {
  const { dueAtMs: _, error: __, ...rest } = before ?? { attempt: 0 };
  return { ...rest, ...change, endedAt: at };
}

export function suspended({ dueAtMs: _, ...node }: NodeState, interruptId: string, deadlineMs?: number): NodeState {
  return { ...node, status: "suspended", interruptId, ...(deadlineMs === undefined ? {} : { dueAtMs: deadlineMs }) };
}

export function resumed({ dueAtMs: _, ...node }: NodeState): NodeState {
  return { ...node, status: "resumed" };
}

export function interruptActive(nodes: Nodes): Nodes {
  return Object.fromEntries(Object.entries(nodes).map(([id, node]) => [id, isActive(node) ? interrupted(node) : node]));
}

/** A node that waits to be tried again has not begun that attempt yet. */
function interrupted({ dueAtMs: _, ...node }: NodeState): NodeState {
  return { ...node, status: "interrupted", attempt: node.status === "retrying" ? node.attempt - 1 : node.attempt };
}
