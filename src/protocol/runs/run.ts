import type { DrainPolicy, RunError, RunEvent } from "../events.ts";
import {
  endInvocation,
  evolveAgent,
  evolveOrchestrator,
  type Orchestrator,
  pinAgent,
  type RunAgent,
} from "../evolve/agent.ts";
import { branched } from "../evolve/branch.ts";
import {
  type Children,
  chained,
  evolveChildren,
  type Parent,
  waitingChild,
  withoutResult,
} from "../evolve/children.ts";
import { cancelInterrupts, evolveInterrupts } from "../evolve/interrupts.ts";
import { type Cancellation, cancellationOf, repaired, started } from "../evolve/lifecycle.ts";
import {
  changeNode,
  interruptActive,
  resumed,
  type Scratch,
  settled,
  startOver,
  suspended,
  withNode,
  withVariable,
} from "../evolve/nodes.ts";
import { withSecrets, withSensitive } from "../evolve/secrets.ts";
import { type Interrupt, waitingStatusOf } from "../gates/interrupt.ts";
import type { Owner } from "../identity/identity.ts";
import { own } from "../own.ts";
import { type Channel, openChannel, reduceChannel } from "./channel.ts";
import { type ForkedFrom, isInherited } from "./forked-from.ts";
import { isActive, type NodeState } from "./node-state.ts";
import { CHAIN_EVENT } from "./orchestrator.ts";
import { isWaiting, type RunStatus } from "./run-status.ts";
import type { Secret } from "./sensitive.ts";
import type { Trace } from "./trace.ts";

export type { Child, ChildResult, Parent } from "../evolve/children.ts";
export type { Cancellation } from "../evolve/lifecycle.ts";
export { onceSeen, type Scratch } from "../evolve/nodes.ts";
export { isActive, isEntered, isSettled, type NodeState, type NodeStatus, type Verdict } from "./node-state.ts";

/**
 * A run is the fold of its events. Server, SDK and console fold with the same `evolve`, so they cannot disagree.
 * Everything the engine needs to go on is in here; nothing of it exists only in memory.
 */
export interface Run {
  readonly runId: string;
  readonly workflowId: string;
  readonly workflowHash: string;
  readonly owner: Owner;
  readonly status: RunStatus;
  /** How many events were folded: the next event has this sequence. */
  readonly version: number;
  readonly engineVersion: number;
  readonly eventLogSchemaVersion: number;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly updatedAt: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly nodes: Readonly<Record<string, NodeState>>;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly executions: number;
  readonly limits: { readonly nodeExecutions: number; readonly runDurationMs?: number };
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly pins: Readonly<Record<string, number>>;
  readonly loops: Readonly<Record<string, number>>;
  /** How often a loop has sent a node round; absent is never. */
  readonly visits: Readonly<Record<string, number>>;
  /** All that were ever raised, by id, oldest first. */
  readonly interrupts: Readonly<Record<string, Interrupt>>;
  /** The runs its nodes dispatched, by run id, oldest first. */
  readonly children: Children;
  /** Where a supervisor has decided something. */
  readonly orchestrator?: Orchestrator;
  /** Where an agent was asked something. */
  readonly agent?: RunAgent;
  readonly parent?: Parent;
  /** The inputs of a run that another run dispatched. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly forkedFrom?: ForkedFrom;
  /** Of a branch: the options that were given other values at the fork point, as `inputs.NAME` or `configurable.NAME`. */
  readonly branchChanges?: readonly string[];
  /** The principal that started it, where that is not its owner. */
  readonly startedBy?: string;
  /** Further starters: of its source, of the runs above, and of later requests for the same run. */
  readonly starters?: readonly string[];
  /** The trace of the request that started it; without one the run is a trace of its own. */
  readonly trace?: Trace;
  /** Where tokens of its interrupts are posted. */
  readonly callbackUrl?: string;
  readonly cost?: Readonly<Record<string, unknown>>;
  readonly pause?: { readonly at: string; readonly drainPolicy: DrainPolicy; readonly reason?: string };
  readonly pausedAt?: string;
  readonly cancel?: Cancellation;
  readonly error?: RunError;
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** Set where the members that hold values were left out, because the whole state was too large: its length as JSON. */
  readonly stateOmitted?: { readonly bytes: number };
  /** Every value that was ever masked by name: what was copied from it stays masked when the name has a new value. */
  readonly secrets?: readonly Secret[];
  /** Variables that are masked by name although the definition does not say so: they came from such in another run. */
  readonly sensitive?: readonly string[];
}

export function activeNodes(run: Run): [string, NodeState][] {
  return Object.entries(run.nodes).filter(([, node]) => isActive(node));
}

export function nodeOf(run: Run, nodeId: string): NodeState | undefined {
  return own(run.nodes, nodeId);
}

export function fold(events: readonly RunEvent[], from?: Run): Run | undefined {
  const scratch: Scratch = { isFold: true };
  let run = from;
  for (const event of events) run = evolve(run, event, scratch);
  return run;
}

/** The next state. Events of a type it does not know change only the version. */
export function evolve(before: Run | undefined, event: RunEvent, scratch: Scratch = {}): Run {
  if (event.type === "run.started") return withSecrets(started(event), event, scratch);
  if (before === undefined) throw new Error(`run ${event.runId} has no run.started before ${event.type}`);
  const run = apply({ ...before, version: event.sequence + 1, updatedAt: event.timestamp }, event, scratch);
  return event.sealed === undefined ? run : withSecrets(run, event, scratch);
}

function apply(run: Run, event: RunEvent, scratch: Scratch): Run {
  switch (event.type) {
    case "run.completed":
      return {
        ...run,
        status: "completed",
        endedAt: event.timestamp,
        outputs: (event.sealed ?? event.payload).outputs,
      };
    case "run.failed":
      return {
        ...run,
        status: "failed",
        endedAt: event.timestamp,
        error: event.payload.error,
        interrupts: cancelInterrupts(run.interrupts, event.timestamp),
      };
    case "run.cancelled":
      return {
        ...run,
        status: "cancelled",
        endedAt: event.timestamp,
        cancel: cancellationOf(event.payload),
        interrupts: cancelInterrupts(run.interrupts, event.timestamp),
      };
    case "assay.state.dropped":
    case "assay.times.corrected":
      return repaired(run, event);
    case "assay.pause.requested": {
      const { drainPolicy, reason } = event.payload;
      return { ...run, pause: { at: event.timestamp, drainPolicy, ...(reason === undefined ? {} : { reason }) } };
    }
    case "assay.pause.withdrawn":
      return without(run, "pause");
    case "run.paused": {
      const nodes = event.payload.drainPolicy === "immediate" ? interruptActive(run.nodes) : run.nodes;
      return { ...without(run, "pause"), nodes, status: "paused", pausedAt: event.timestamp };
    }
    case "run.resumed":
      return mirrorWaiting({ ...without(run, "pausedAt"), status: "running" });
    case "assay.cancel.requested":
      return { ...run, status: "cancelling", cancel: event.payload };
    case "node.started":
      return {
        ...withNode(run, scratch, event.payload.nodeId, {
          status: "executing",
          attempt: event.payload.attempt,
          startedAt: event.timestamp,
        }),
        status: run.status === "pending" ? "running" : run.status,
        executions: run.executions + 1,
      };
    case "assay.timer.set":
      return changeNode(run, scratch, event.payload.nodeId, (node) => ({
        ...node,
        status: "sleeping",
        dueAtMs: Date.parse(event.timestamp) + event.payload.delayMs,
      }));
    case "assay.timer.fired":
      return changeNode(run, scratch, event.payload.nodeId, ({ dueAtMs: _, ...node }) => ({
        ...node,
        status: "executing",
      }));
    case "node.retried":
      return changeNode(run, scratch, event.payload.nodeId, (node) => ({
        ...node,
        status: "retrying",
        attempt: event.payload.attempt,
        dueAtMs: Date.parse(event.timestamp) + event.payload.delayMs,
        error: event.payload.lastError,
      }));
    case "node.completed":
      return settle(run, scratch, event.payload.nodeId, event.timestamp, {
        status: "completed",
        outputs: (event.sealed ?? event.payload).outputs,
        ...(event.payload.verdict === undefined ? {} : { verdict: event.payload.verdict }),
      });
    case "node.failed":
      return settle(run, scratch, event.payload.nodeId, event.timestamp, {
        status: "failed",
        error: event.payload.error,
      });
    case "node.skipped":
      return settle(run, scratch, event.payload.nodeId, event.timestamp, { status: "skipped" });
    case "node.cancelled":
      return settle(run, scratch, event.payload.nodeId, event.timestamp, { status: "cancelled" });
    case "variable.changed": {
      const { name, next, sensitive } = event.sealed ?? event.payload;
      const changed = { ...run, variables: withVariable(run.variables, scratch, name, next) };
      return sensitive === undefined ? changed : withSensitive(changed, name, scratch);
    }
    case "assay.channel.opened": {
      const { channel, ...rules } = event.sealed ?? event.payload;
      return { ...run, channels: { ...run.channels, [channel]: openChannel(rules) } };
    }
    case "channel.written": {
      const { channel: name, value, reducer, writtenAt } = event.sealed ?? event.payload;
      const channel = own(run.channels, name) ?? openChannel({ reducer });
      return { ...run, channels: { ...run.channels, [name]: reduceChannel(channel, value, Date.parse(writtenAt)) } };
    }
    case "version.pinned":
      return { ...run, pins: { ...run.pins, [event.payload.changeId]: event.payload.version } };
    case "assay.loop.entered": {
      const { edgeId, iteration, nodeIds } = event.payload;
      return { ...run, ...startOver(run, nodeIds), loops: { ...run.loops, [edgeId]: iteration } };
    }
    case "assay.branch.began":
      return branched(run, event);
    case "assay.starter.added":
      return { ...run, starters: [...new Set([...(run.starters ?? []), event.payload.principal])] };
    case "interrupt.requested":
    case "interrupt.resolved":
    case "assay.vote.recorded":
    case "assay.gate.asked":
    case "authorization.decided":
      return mirrorWaiting({ ...run, interrupts: evolveInterrupts(run.interrupts, event, inherited(run, event)) });
    case "node.suspended":
      return changeNode(run, scratch, event.payload.nodeId, (node) => {
        const { interruptId } = event.payload;
        return suspended(node, interruptId, own(run.interrupts, interruptId)?.deadlineMs);
      });
    case "node.resumed":
      return changeNode(run, scratch, event.payload.nodeId, resumed);
    case "assay.resume.taken":
      return changeNode(run, scratch, event.payload.nodeId, (node) => ({ ...node, status: "executing" }));
    case "assay.child.started": {
      const { nodeId, childRunId, waits } = event.payload;
      const begun = { ...run, children: evolveChildren(run.children, event, visitOf(run, nodeId)) };
      if (!waits) return begun;
      return changeNode(begun, scratch, nodeId, (node) => ({ ...node, status: "delegated", childRunId }));
    }
    case "assay.child.changed":
    case "assay.child.ended": {
      const { nodeId, childRunId } = event.payload;
      const updated = mirrorWaiting({ ...run, children: evolveChildren(run.children, event, visitOf(run, nodeId)) });
      const node = nodeOf(run, nodeId);
      const awaited = node?.status === "delegated" && node.childRunId === childRunId;
      return awaited && event.type === "assay.child.ended" ? changeNode(updated, scratch, nodeId, resumed) : updated;
    }
    case "runOrchestrator.decided":
      return { ...run, orchestrator: evolveOrchestrator(run.orchestrator, event) };
    case "assay.agent.pinned":
      return { ...run, agent: pinAgent(run.agent, event) };
    case "agent.invocation.started":
      return { ...run, agent: evolveAgent(run.agent, event) };
    case "agent.invocation.completed": {
      const agent = endInvocation(run.agent, event);
      return agent === undefined ? run : { ...run, agent };
    }
    case CHAIN_EVENT:
      return { ...run, children: chained(run.children, event) };
    case "assay.cost.recorded":
      return { ...run, cost: addCost(run.cost ?? {}, event.payload.attributes) };
    default:
      return run;
  }
}

function inherited(run: Run, { sequence }: RunEvent): { readonly inherited?: true } {
  return isInherited(run, sequence) ? { inherited: true } : {};
}

/** Which time a node is being visited, from 0. Loops begin a new visit, attempts do not. */
export function visitOf(run: Run, nodeId: string): number {
  return own(run.visits, nodeId) ?? 0;
}

export function openInterrupts(run: Run): Interrupt[] {
  return Object.values(run.interrupts).filter(({ status }) => status === "open");
}

/** A run that waits for anything shows it: for the oldest of its own interrupts, else as a child it waits for. */
function mirrorWaiting(run: Run): Run {
  if (run.status !== "running" && !isWaiting(run.status)) return run;
  const [first] = openInterrupts(run);
  const child = waitingChild(run.children);
  const status = first === undefined ? (child?.status ?? "running") : waitingStatusOf(first.kind);
  return status === run.status ? run : { ...run, status };
}

function settle(run: Run, scratch: Scratch, nodeId: string, at: string, change: Parameters<typeof settled>[2]): Run {
  const after = withNode(run, scratch, nodeId, settled(nodeOf(run, nodeId), at, change));
  const children = withoutResult(run.children, nodeId, visitOf(run, nodeId));
  return children === run.children ? after : { ...after, children };
}

function without<K extends "pause" | "pausedAt">(run: Run, key: K): Omit<Run, K> {
  const { [key]: _, ...rest } = run;
  return rest;
}

/** Numbers add up over the run; texts are the latest. */
function addCost(before: Readonly<Record<string, unknown>>, attributes: Readonly<Record<string, unknown>>) {
  const after: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(attributes)) {
    const held = after[name];
    after[name] = typeof value === "number" && typeof held === "number" ? held + value : value;
  }
  return after;
}
