import type { RunEvent } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { WorkflowNode } from "../../protocol/workflows/workflow.ts";
import { frontier, nextSteps, type Step, stepOf } from "../runs/decide/next-step.ts";
import type { Plan } from "../workflows/decide/plan.ts";

/** The steps of a run in the order of its source. A turn decides on several steps at once and takes all of them before their followers. */
export class StepBatches {
  readonly #plan: Plan;
  #among: readonly WorkflowNode[];
  /** The steps that were decided on together, and those that are left. */
  #batch: readonly Step[] = [];
  #left: Step[] = [];
  /** Whether the fork may have begun in the middle of a batch. */
  #inMidst = true;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#among = plan.graph.order;
  }

  /** Drops the batch: the next steps are of another turn. */
  interrupt(): void {
    this.#left = [];
    this.#batch = [];
    this.#among = this.#plan.graph.order;
  }

  /** The same after an event from outside: all steps of the batch before have been taken. */
  nextTurn(): void {
    this.interrupt();
    this.#inMidst = false;
  }

  /** Whether the next step needs a new decision. */
  get isEmpty(): boolean {
    return this.#left.length === 0;
  }

  /** The step that led to an event, if this run may take it. */
  take(run: Run, original: RunEvent): Step | undefined {
    if (this.#left.length === 0) this.#decide(run);
    const step = this.#takeLeft(original);
    if (step !== undefined || !this.#inMidst) return step;
    // The remaining steps may be of the interrupted batch, or too many: the source decided on fewer.
    this.interrupt();
    const leftOver = this.#leftOver(run, original);
    if (leftOver !== undefined) return leftOver;
    this.#decide(run);
    return this.#takeLeft(original);
  }

  #takeLeft(original: RunEvent): Step | undefined {
    const index = this.#left.findIndex((step) => leadsTo(step, original));
    return index < 0 ? undefined : this.#left.splice(index, 1)[0];
  }

  #decide(run: Run): void {
    if (this.#batch.length > 0) {
      this.#inMidst = false;
      this.#among = frontier(this.#plan, run, this.#among, this.#batch);
    }
    this.#batch = nextSteps(this.#plan, run, this.#among);
    this.#left = [...this.#batch];
  }

  #leftOver(run: Run, original: RunEvent): Step | undefined {
    const node = original.nodeId === undefined ? undefined : this.#plan.graph.node.get(original.nodeId);
    const step = node && stepOf(this.#plan, run, node);
    return step !== undefined && leadsTo(step, original) ? step : undefined;
  }
}

/** The possible first events of a node. */
const BEGINS: ReadonlySet<RunEvent["type"]> = new Set<RunEvent["type"]>([
  ...(["node.started", "node.failed", "cap.breached", "model.capability.insufficient"] as const),
]);

function leadsTo(step: Step, { type, nodeId }: RunEvent): boolean {
  switch (step.type) {
    case "start":
      return step.node.id === nodeId && BEGINS.has(type);
    case "skip":
      return step.node.id === nodeId && type === "node.skipped";
    case "loop":
      return type === "assay.loop.entered";
    case "loop-limit":
      return type === "workflow.loopback-limit";
    case "fail":
      return type === "run.failed";
    case "complete":
      return type === "run.completed";
  }
}
