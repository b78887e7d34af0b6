import { addTo } from "../../../formats/text/collections.ts";
import type { EventType, RunEvent } from "../../../protocol/events.ts";
import { CHAIN_EVENT } from "../../../protocol/runs/orchestrator.ts";
import { inLoops } from "../../workflows/decide/graph.ts";
import type { Plan } from "../../workflows/decide/plan.ts";

/** The length of a log with only its first event: the furthest point that a branch goes back to. */
export const BEGINNING = 1;

interface Beginning {
  readonly sequence: number;
  /** Whether a node with effects had not run yet, or may run again: a decision may have allowed it, also without an edge between them. */
  readonly actsLater: boolean;
  /** The sequence of its first write to state that it, or a later visit of it, may read. */
  readonly wroteAt?: number;
}

interface OpenBeginning extends Beginning {
  wroteAt?: number;
}

/** Events that a node writes before it completes. A node that began again in between would count, append or decide a second time. */
const WRITES: ReadonlySet<string> = new Set([
  ...["variable.changed", "assay.channel.opened", "channel.written", "version.pinned"],
  "runOrchestrator.decided",
]);

/** The beginnings of nodes, by the interrupts and child runs that they started, and by node id. */
export interface Beginnings {
  /** @param id of an interrupt or a child run */
  of(id: string): Beginning;
  /** The last beginning of the node before this sequence. */
  ofNode(nodeId: string, before: number): Beginning;
}

export function beginnings({ graph }: Plan, history: readonly RunEvent[], acting: readonly string[]): Beginnings {
  const acts = new Set(acting);
  const yetToAct = new Set(acting);
  const loops = inLoops(graph);
  const running = new Map<string, OpenBeginning>();
  const began = new Map<string, Beginning[]>();
  const byId = new Map<string, Beginning>();
  const unknown = { sequence: BEGINNING, actsLater: acting.length > 0 };
  for (const { type, nodeId: writer, payload, sequence } of history) {
    if (WRITES.has(type)) {
      const open = writer === undefined ? undefined : running.get(writer);
      if (open !== undefined) open.wroteAt ??= sequence;
    } else if (type === "node.started" && !running.has(payload.nodeId)) {
      const beginning = { sequence, actsLater: yetToAct.size > 0 };
      running.set(payload.nodeId, beginning);
      addTo(began, payload.nodeId, beginning);
    } else if (type === "interrupt.requested") {
      byId.set(payload.interruptId, running.get(payload.nodeId) ?? unknown);
    } else if (type === "assay.child.started") {
      byId.set(payload.childRunId, running.get(payload.nodeId) ?? unknown);
    } else if (SETTLES.has(type)) {
      const { nodeId } = payload as { readonly nodeId: string };
      running.delete(nodeId);
      // The next round of a loop may reach it after the decision, without an edge from the gate.
      if (!loops.has(nodeId)) yetToAct.delete(nodeId);
    } else if (type === "assay.loop.entered") {
      for (const id of payload.nodeIds) {
        running.delete(id);
        if (acts.has(id)) yetToAct.add(id);
      }
    }
  }
  return {
    of: (id) => byId.get(id) ?? unknown,
    ofNode: (nodeId, before) => began.get(nodeId)?.findLast(({ sequence }) => sequence < before) ?? unknown,
  };
}

const SETTLES: ReadonlySet<string> = new Set(["node.completed", "node.failed", "node.skipped", "node.cancelled"]);

/**
 * The sequence at which an ending run began to cancel its nodes, where the log stops between that and the end of the run. Those nodes have no
 * result, and gates among them were not decided.
 */
export function lettingGo(history: readonly RunEvent[]): number | undefined {
  const before = history.findLastIndex(({ type }) => !LET_GO.has(type));
  return history.slice(before + 1).find(({ type }) => type === "node.cancelled")?.sequence;
}

/** Events that a failed or cancelled run writes before its own last event. */
export const LET_GO: ReadonlySet<string> = new Set(["node.cancelled", "agent.invocation.completed"]);

/** Events that the engine computes when it executes a run again. All others come from outside. */
export const COMPUTED: ReadonlySet<EventType> = new Set<EventType>([
  ...(["run.completed", "run.failed", "cap.breached", "workflow.loopback-limit", "assay.loop.entered"] as const),
  ...(["node.started", "node.completed", "node.failed", "node.retried", "node.skipped", "assay.timer.set"] as const),
  ...(["variable.changed", "channel.written", "assay.channel.opened", "version.pinned"] as const),
  ...(["interrupt.requested", "approval.requested", "clarification.requested", "node.suspended"] as const),
  ...(["assay.child.started", "node.dispatched", "assay.cost.recorded", CHAIN_EVENT] as const),
  ...(["core.workflowChain.confidence-escalated", "model.capability.insufficient"] as const),
]);
