import type { RunEvent } from "../../../protocol/events.ts";
import { inLoops } from "../../workflows/decide/graph.ts";
import type { Plan } from "../../workflows/decide/plan.ts";

/** The first event of a run begins it; the branch that goes back furthest keeps this one alone. */
export const BEGINNING = 1;

interface Beginning {
  readonly sequence: number;
  /** Whether a node with effects had not run yet, or may run again: what was decided may have let it through, also without an edge between them. */
  readonly actsLater: boolean;
  /** Where the node first wrote what it, or a later visit of it, may read. */
  readonly wroteAt?: number;
}

interface OpenBeginning extends Beginning {
  wroteAt?: number;
}

/** A node writes these before it completes. One that began again between the two would count, append or decide a second time. */
const WRITES: ReadonlySet<string> = new Set([
  ...["variable.changed", "assay.channel.opened", "channel.written", "version.pinned"],
  "runOrchestrator.decided",
]);

/** Where nodes began: by what they asked or dispatched since, and by their id. */
export interface Beginnings {
  /** @param id of an interrupt, or of a run below */
  of(id: string): Beginning;
  /** Where the node began that was under way before this sequence. */
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
      const places = began.get(payload.nodeId);
      if (places === undefined) began.set(payload.nodeId, [beginning]);
      else places.push(beginning);
    } else if (type === "interrupt.requested") {
      byId.set(payload.interruptId, running.get(payload.nodeId) ?? unknown);
    } else if (type === "assay.child.started") {
      byId.set(payload.childRunId, running.get(payload.nodeId) ?? unknown);
    } else if (SETTLES.has(type)) {
      const { nodeId } = payload as { readonly nodeId: string };
      running.delete(nodeId);
      // The next round of a loop may come to it after the decision, although no edge leads there from the gate.
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
 * Where a run that ends lets go of its nodes, if the log ends between that and the end of the run. A node that was cancelled so has
 * come to nothing, and a gate among them was not decided.
 */
export function lettingGo(history: readonly RunEvent[]): number | undefined {
  const before = history.findLastIndex(({ type }) => !LET_GO.has(type));
  return history.slice(before + 1).find(({ type }) => type === "node.cancelled")?.sequence;
}

/** What a run that failed or was cancelled writes before its own last event. */
export const LET_GO: ReadonlySet<string> = new Set(["node.cancelled", "agent.invocation.completed"]);
