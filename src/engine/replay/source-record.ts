import { addTo } from "../../formats/text/collections.ts";
import { type EventType, endsRun, type RunError, type RunEvent } from "../../protocol/events.ts";
import { CHAIN_EVENT } from "../../protocol/runs/orchestrator.ts";
import { COMPUTED } from "../runs/decide/beginnings.ts";

/** Ends of runs with causes outside of the workflow: the time limit, or a host that could not continue. */
const ENDED_FROM_OUTSIDE: ReadonlySet<string> = new Set(["run_timeout", "run_dead_lettered", "run_too_large"]);

/** Events of a node that raises an interrupt. */
const RAISES: ReadonlySet<EventType> = new Set<EventType>([
  "core.workflowChain.confidence-escalated",
  ...(["interrupt.requested", "approval.requested", "clarification.requested", "node.suspended"] as const),
]);
const SETTLES: ReadonlySet<EventType> = new Set<EventType>(["node.completed", "node.failed", "node.retried"]);
const BEFORE_SETTLING: ReadonlySet<EventType> = new Set<EventType>([
  ...(["variable.changed", "channel.written", "assay.channel.opened", "version.pinned"] as const),
  ...(["assay.cost.recorded", CHAIN_EVENT] as const),
]);

/** Limits whose breach comes from outside. */
const RECORDED_LIMITS: ReadonlySet<string> = new Set(["run-duration", "schema"]);

/** Whether a chain event is the end of a worker, which comes from outside; the other phases are computed. */
function isChildsEnd({ payload }: Extract<RunEvent, { type: typeof CHAIN_EVENT }>): boolean {
  return payload.phase.startsWith("child.");
}

function isDispatching(event: RunEvent): boolean {
  if (event.type === CHAIN_EVENT) return event.payload.phase.startsWith("dispatch.");
  return event.type === "assay.child.started" || event.type === "node.dispatched";
}

function beginsDispatch(event: RunEvent | undefined): boolean {
  return event?.type === CHAIN_EVENT && event.payload.phase === "dispatch.began";
}

/** The place of an event in its node. */
interface Place {
  readonly index: number;
  readonly visit: number;
  readonly attempt: number;
}

/** The log of the source of a replay, by node. Each of its events is repeated at most once. */
export class SourceRecord {
  readonly runId: string;
  readonly events: readonly RunEvent[];
  readonly #places = new Map<string, Place[]>();
  readonly #pins = new Map<string, number>();
  readonly #copied: number;
  readonly #repeated = new Set<number>();
  readonly #endedFromOutside: boolean;

  /** `copied` is the number of events that are in the replay already. */
  constructor(runId: string, events: readonly RunEvent[], copied: number) {
    this.runId = runId;
    this.events = events;
    this.#copied = copied;
    this.#index();
    const last = events.at(-1);
    this.#endedFromOutside =
      last?.type === "run.cancelled" ||
      (last?.type === "run.failed" && ENDED_FROM_OUTSIDE.has(last.payload.error.code));
  }

  markRepeated(index: number): void {
    this.#repeated.add(index);
  }

  pinOf(changeId: string): number | undefined {
    return this.#pins.get(changeId);
  }

  /** The index at which the end of a cancelled run begins: that of the first node that was cancelled with it. */
  get cancelledFrom(): number | undefined {
    let index = this.events.length - 1;
    if (this.events[index]?.type !== "run.cancelled") return undefined;
    while (this.#endsWithRun(index - 1)) index -= 1;
    return index;
  }

  /** Whether the event closes a node or an invocation that was active when the run was cancelled. */
  #endsWithRun(index: number): boolean {
    const [event, after] = [this.events[index], this.events[index + 1]];
    if (event?.type === "node.cancelled") return true;
    return (
      event?.type === "agent.invocation.completed" && after?.type === "node.cancelled" && after.nodeId === event.nodeId
    );
  }

  /** Whether the source has any event of the node. */
  hasReached(nodeId: string): boolean {
    return this.#places.has(nodeId);
  }

  /** Whether the event came from outside, so that it is repeated and not computed. */
  isRecorded(index: number): boolean {
    const event = this.events[index] as RunEvent;
    if (event.type === "cap.breached") return RECORDED_LIMITS.has(event.payload.kind);
    if (event.type === CHAIN_EVENT) return isChildsEnd(event);
    // A replay that begins in the middle of the ending of its source repeats the end.
    if (event.type === "run.failed") return this.#endedFromOutside || this.events[index - 1]?.type === "node.cancelled";
    return !COMPUTED.has(event.type);
  }

  /** Whether the event is in the middle of the events of one execution. */
  isMidway(index: number): boolean {
    const before = this.events[index - 1];
    return before !== undefined && before.nodeId === this.events[index]?.nodeId && BEFORE_SETTLING.has(before.type);
  }

  /** The time in the next channel write of the node at this place. */
  writtenAt(index: number, nodeId: string): string | undefined {
    for (let i = index; this.events[i]?.nodeId === nodeId; i++) {
      const event = this.events[i];
      if (event?.type === "channel.written") return event.payload.writtenAt;
    }
    return undefined;
  }

  /** The events with which the node raised the interrupt of this key, if they are not repeated yet. */
  raising(nodeId: string, key: string): number[] {
    const all = this.#remaining(nodeId, ({ type }) => RAISES.has(type));
    const ends = all.findIndex((index) => {
      const event = this.events[index];
      return event?.type === "node.suspended" && event.payload.key === key;
    });
    const begins = all.findLastIndex((index, i) => i < ends && this.events[index]?.type === "node.suspended") + 1;
    return ends < 0 ? [] : all.slice(begins, ends + 1);
  }

  /** The events about an interrupt until its node resumed; none where it never did. */
  answering(nodeId: string, interruptId: string): number[] {
    const places = this.#places.get(nodeId) ?? [];
    const raised = places.find(({ index }) => {
      const event = this.events[index];
      return event?.type === "node.suspended" && event.payload.interruptId === interruptId;
    });
    const recorded = (event: RunEvent) => !COMPUTED.has(event.type) && event.type !== "node.cancelled";
    const all = this.#remaining(nodeId, recorded).filter((index) => raised !== undefined && index > raised.index);
    const ends = all.findIndex((index) => {
      const event = this.events[index];
      return event?.type === "node.resumed" && event.payload.interruptId === interruptId;
    });
    return all.slice(0, ends + 1);
  }

  beginsDispatch(index: number): boolean {
    return beginsDispatch(this.events[index]);
  }

  /** The events of the next dispatch of the node in this visit that is not repeated yet. */
  dispatching(nodeId: string, visit: number): number[] {
    const all = this.#remaining(nodeId, isDispatching, visit);
    const begins = (i: number) => {
      const [before, event] = [this.events[all[i - 1] ?? -1], this.events[all[i] ?? -1]];
      return beginsDispatch(event) || (event?.type === "assay.child.started" && !beginsDispatch(before));
    };
    const next = all.findIndex((_, i) => i > 0 && begins(i));
    return next < 0 ? all : all.slice(0, next);
  }

  /** The error of a node that could not dispatch at this place, and its events before the error. */
  refusal(index: number, nodeId: string): { readonly before: number[]; readonly error: RunError } | undefined {
    const before: number[] = [];
    for (let i = index; this.events[i]?.nodeId === nodeId; i++) {
      const event = this.events[i] as RunEvent;
      if (event.type === "node.failed") return { before, error: event.payload.error };
      if (event.type === "node.retried") return { before, error: event.payload.lastError };
      if (event.type !== CHAIN_EVENT) return undefined;
      before.push(i);
    }
    return undefined;
  }

  /** The events about a child run until its end; none where the log does not have its end. */
  childEnding(nodeId: string, childRunId: string): number[] {
    const all = this.#remaining(nodeId, (event) => {
      if (event.type === CHAIN_EVENT) return isChildsEnd(event) && event.payload.childRunId === childRunId;
      const about = event.type === "assay.child.changed" || event.type === "assay.child.ended";
      return about && event.payload.childRunId === childRunId;
    });
    return all.slice(0, all.findIndex((index) => this.events[index]?.type === "assay.child.ended") + 1);
  }

  /** The events of an attempt until it settled; none where it never did. */
  outcome(nodeId: string, visit: number, attempt: number): number[] {
    const begun = (event: RunEvent) => event.type !== "node.started" && event.type !== "node.cancelled";
    const all = this.#remaining(nodeId, begun, visit, attempt);
    return all.slice(0, all.findIndex((index) => SETTLES.has(this.events[index]?.type as EventType)) + 1);
  }

  /** Whether another attempt followed in the same visit. */
  wasTriedAgain(nodeId: string, visit: number, attempt: number): boolean {
    const places = this.#places.get(nodeId) ?? [];
    return places.some((place) => place.visit === visit && place.attempt > attempt);
  }

  /** The events of a node that are neither copied nor repeated yet. */
  #remaining(nodeId: string, wanted: (event: RunEvent) => boolean, visit?: number, attempt?: number): number[] {
    const found: number[] = [];
    for (const place of this.#places.get(nodeId) ?? []) {
      if (place.index < this.#copied || this.#repeated.has(place.index)) continue;
      if (visit !== undefined && place.visit !== visit) continue;
      if (attempt !== undefined && place.attempt !== attempt) continue;
      if (wanted(this.events[place.index] as RunEvent)) found.push(place.index);
    }
    return found;
  }

  #index(): void {
    const visits = new Map<string, number>();
    const attempts = new Map<string, number>();
    for (const [index, event] of this.events.entries()) {
      if (event.type === "assay.loop.entered" || event.type === "assay.branch.began") {
        for (const id of event.payload.nodeIds) visits.set(id, (visits.get(id) ?? 0) + 1);
      }
      if (event.type === "version.pinned" && !this.#pins.has(event.payload.changeId)) {
        this.#pins.set(event.payload.changeId, event.payload.version);
      }
      const { nodeId } = event;
      if (nodeId === undefined || event.type === "assay.loop.entered" || endsRun(event.type)) continue;
      if (event.type === "node.started") attempts.set(nodeId, event.payload.attempt);
      addTo(this.#places, nodeId, { index, visit: visits.get(nodeId) ?? 0, attempt: attempts.get(nodeId) ?? 0 });
    }
  }
}
