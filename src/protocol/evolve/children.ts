import { defined } from "../defined.ts";
import type { PayloadOf, RunError, RunEvent } from "../events.ts";
import { own } from "../own.ts";
import type { CHAIN_EVENT } from "../runs/orchestrator.ts";
import { isTerminal, isWaiting, type RunStatus } from "../runs/run-status.ts";

export interface Parent {
  readonly runId: string;
  readonly nodeId: string;
  /** How many runs are above this one. */
  readonly depth: number;
  /** The run above all of them. */
  readonly rootRunId: string;
}

/** A run that a node dispatched, as the log of this run knows it. */
export interface Child {
  readonly nodeId: string;
  /** The visit of the node that dispatched it. */
  readonly visit: number;
  readonly workflowId: string;
  readonly status: RunStatus;
  /** Whether the node waits for its end. */
  readonly waits: boolean;
  /** Whether the end of this run is the end of the child. */
  readonly propagates: boolean;
  /** The names of its variables that come back when it completes. */
  readonly takes: readonly string[];
  /** How it ended, until its node has taken that in. */
  readonly result?: ChildResult;
  /** Of a worker: the run it was handed out by, as the log calls it, and the last event about that. */
  readonly chain?: { readonly parentRunId: string; readonly eventId: string };
}

export interface ChildResult {
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Names among the variables that are masked wherever they go. */
  readonly sensitive?: readonly string[];
  readonly error?: RunError;
}

export type Children = Readonly<Record<string, Child>>;

type ChildEvent = Extract<RunEvent, { type: "assay.child.started" | "assay.child.changed" | "assay.child.ended" }>;

/** The children of a run after one of the events that are about them. */
export function evolveChildren(children: Children, event: ChildEvent, visit: number): Children {
  const { childRunId, nodeId } = event.payload;
  const before = own(children, childRunId);
  if (event.type === "assay.child.started") {
    const { childWorkflowId: workflowId, waits, propagates, takes } = event.payload;
    // A node that starts over finds the child it had.
    if (before !== undefined) return children;
    const begun: Child = { nodeId, visit, workflowId, status: "pending", waits, propagates, takes };
    return { ...withoutResult(children, nodeId, visit), [childRunId]: begun };
  }
  if (before === undefined) return children;
  const { status } = event.payload;
  if (event.type === "assay.child.changed") return { ...children, [childRunId]: { ...before, status } };
  const { outputs, variables, sensitive, error } = event.sealed ?? event.payload;
  const result = defined({ outputs, variables, sensitive, error });
  return { ...children, [childRunId]: { ...before, status, result } };
}

/** The node has advanced: the child's result is in the run by now, and need not be held twice. */
export function withoutResult(children: Children, nodeId: string, visit: number): Children {
  const [childRunId, child] = childrenOfVisit(children, nodeId, visit).at(-1) ?? [];
  if (childRunId === undefined || child?.result === undefined) return children;
  const { result: _, ...rest } = child;
  return { ...children, [childRunId]: rest };
}

/** Oldest first. */
export function childrenOfVisit(children: Children, nodeId: string, visit: number): [string, Child][] {
  return Object.entries(children).filter(([, child]) => child.nodeId === nodeId && child.visit === visit);
}

/** The children after an event about handing work to one of them. */
export function chained(children: Children, event: Extract<RunEvent, { type: typeof CHAIN_EVENT }>): Children {
  const { childRunId, parentRunId } = event.payload;
  const before = childRunId === undefined ? undefined : own(children, childRunId);
  if (childRunId === undefined || before === undefined) return children;
  return { ...children, [childRunId]: { ...before, chain: { parentRunId, eventId: event.eventId } } };
}

/** The first that is waited for and waits itself. */
export function waitingChild(children: Children): Child | undefined {
  return Object.values(children).find(({ waits, status }) => waits && isWaiting(status));
}

/** Those that end with this run, as far as it knows. */
export function dependants(children: Children): [string, Child][] {
  return Object.entries(children).filter(([, { propagates, status }]) => propagates && !isTerminal(status));
}

export function parentOf(payload: PayloadOf<"run.started">): { readonly parent?: Parent } {
  const { parentRunId, parentNodeId, depth = 1, rootRunId = parentRunId } = payload;
  if (parentRunId === undefined || parentNodeId === undefined || rootRunId === undefined) return {};
  return { parent: { runId: parentRunId, nodeId: parentNodeId, depth, rootRunId } };
}
