import { expect } from "vitest";
import type { Plan } from "../engine/workflows/decide/plan.ts";
import { EVENTS, eventDoc, type RunEvent } from "../protocol/events.ts";
import { wakeAtMs } from "../protocol/runs/due-times.ts";
import { activeNodes, fold, type Run } from "../protocol/runs/run.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import { snapshotOf } from "../protocol/runs/snapshot.ts";
import { matches, problemsOf } from "../protocol/schema.ts";
import { SECRET } from "./random-workflow.ts";

const SETTLES = new Set(["node.completed", "node.failed", "node.skipped", "node.cancelled"]);

/** The log of one run, with what must hold of any log at any time. */
export class RandomLog {
  readonly plan: Plan;
  readonly events: RunEvent[] = [];
  /** The attempts of effect nodes that a worker is at. */
  readonly executing = new Map<string, number>();
  readonly #settled = new Map<string, string>();
  #run: Run | undefined;

  constructor(plan: Plan) {
    this.plan = plan;
  }

  get run(): Run {
    if (this.#run === undefined) throw new Error("it has not begun");
    return this.#run;
  }

  append(run: Run, events: readonly RunEvent[]): void {
    for (const event of events) this.#check(event);
    this.events.push(...events);
    expect(this.events.map(({ sequence }) => sequence)).toEqual([...this.events.keys()]);
    this.#run = run;
    // As another process would read it: the served text and the sealed one.
    const read = this.events.map((event) => ({
      ...JSON.parse(JSON.stringify(eventDoc(event))),
      ...(event.sealed === undefined ? {} : { sealed: JSON.parse(JSON.stringify(event.sealed)) }),
    }));
    expect(fold(read)).toEqual(JSON.parse(JSON.stringify(run)));
    expect(withoutNames(JSON.stringify(snapshotOf(run, this.plan.sensitivity)))).not.toContain(SECRET);
    this.#checkDue(run);
    this.dropOverridden();
  }

  /** What was being executed and no longer is, as far as the log is concerned. */
  dropOverridden(): void {
    for (const [nodeId, attempt] of this.executing) {
      const state = this.run.nodes[nodeId];
      if (state?.status !== "executing" || state.attempt !== attempt) this.executing.delete(nodeId);
    }
  }

  /** A run without a due time waits for somebody, and for nothing else. */
  #checkDue(run: Run): void {
    if (isTerminal(run.status) || run.status === "paused" || wakeAtMs(run) !== undefined) return;
    const left = activeNodes(run).filter(([, { status }]) => status !== "suspended" && status !== "delegated");
    if (left.length > 0) throw new Error(`a run that is ${run.status} has no due time: ${JSON.stringify(left)}`);
  }

  #check(event: RunEvent): void {
    const { payload } = EVENTS[event.type];
    for (const one of [event.payload, event.sealed ?? event.payload]) {
      if (!matches(payload, one)) throw new Error(`${event.type}: ${JSON.stringify(problemsOf(payload, one))}`);
    }
    expect(withoutNames(JSON.stringify(eventDoc(event)))).not.toContain(SECRET);
    if (event.type === "assay.loop.entered") for (const id of event.payload.nodeIds) this.#settled.delete(id);
    if (SETTLES.has(event.type)) {
      const { nodeId } = event as { nodeId: string };
      if (this.#settled.has(nodeId)) throw new Error(`${nodeId} ${event.type} after ${this.#settled.get(nodeId)}`);
      this.#settled.set(nodeId, event.type);
    }
  }
}

/** The author's own names are shown even where they read like the secret. */
function withoutNames(text: string): string {
  return text.replaceAll("secret-word", "").replaceAll("password", "");
}
