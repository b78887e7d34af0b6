import type { RunEvent } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { WorkflowNode } from "../../protocol/workflows/workflow.ts";
import { frontier, nextSteps, type Step, stepOf } from "../runs/decide/next-step.ts";
import type { Plan } from "../workflows/decide/plan.ts";

/**
 * The steps of a run in the order that its source took them. A turn decides on several at once and then takes all of
 * them, so what one of them makes possible comes after the others.
 */
export class StepBatches {
  readonly #plan: Plan;
  #among: readonly WorkflowNode[];
  /** What was decided on together, and what of it is left. */
  #batch: readonly Step[] = [];
  #left: Step[] = [];
  /** A fork may begin in the middle of a batch that was decided on before. */
  #inMidst = true;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#among = plan.graph.order;
  }

  /** Something else happens in between: the next steps are those of another turn. */
  interrupt(): void {
    this.#left = [];
    this.#batch = [];
    this.#among = this.#plan.graph.order;
  }

  /** The same, brought about from outside: whatever was decided on before has been taken. */
  nextTurn(): void {
    this.interrupt();
    this.#inMidst = false;
  }

  /** Whether the next step needs a new decision. */
  get isEmpty(): boolean {
    return this.#left.length === 0;
  }

  /** The step that led to this event, if this run may take it. */
  take(run: Run, original: RunEvent): Step | undefined {
    if (this.#left.length === 0) this.#decide(run);
    const step = this.#takeLeft(original);
    if (step !== undefined || !this.#inMidst) return step;
    // What is left may be of the batch that was under way, or too much: the source had decided on less.
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

/** What the start of a node can come to first. */
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
