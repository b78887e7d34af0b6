import { defined } from "../../protocol/defined.ts";
import type { EventDraft, RunEvent } from "../../protocol/events.ts";
import { evolve, nodeOf, onceSeen, type Run, type Scratch } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { WorkflowNode } from "../../protocol/workflows/workflow.ts";
import type { InterruptRequest } from "../gates/decide/raise-interrupt.ts";
import { type Host, lackingModel } from "../host.ts";
import { beginNode, loopBreach } from "../runs/decide/begin-node.ts";
import { unhandled } from "../runs/decide/edge-outcomes.ts";
import { failRun } from "../runs/decide/end-run.ts";
import type { RunOutputs, Step } from "../runs/decide/next-step.ts";
import { type Dispatching, harvestEvents, settleNode } from "../runs/decide/settle-node.ts";
import { jsonBytes, mayTake, SMALL_ADDITION, sizeOf } from "../runs/run-size.ts";
import { sealDrafts } from "../runs/stamp.ts";
import { supervisedLoop } from "../workflows/decide/graph.ts";
import type { Plan } from "../workflows/decide/plan.ts";
import { resolveInputs } from "../workflows/decide/resolve-inputs.ts";
import { outcomeOf, versionSource } from "./node-call.ts";
import { type EffectNodeType, type NodeContext, type NodeOutcome, typeOf } from "./node-type.ts";
import { roomOf } from "./run-room.ts";
import { interruptsOf } from "./suspension.ts";

/** An attempt of an effect node, to be called once the turn's events are durable. */
export interface Launch {
  readonly node: WorkflowNode;
  readonly attempt: number;
  readonly type: EffectNodeType;
  readonly context: Omit<NodeContext, "signal">;
  /** Pins that getVersion made while the node ran; they are written with its outcome. */
  readonly pins: EventDraft[];
}

/** The run is or becomes larger than this turn allows: the turn has to be taken again where there is room for it. */
export class LargeTurn extends Error {}

export type Suspending = InterruptRequest & { readonly key: string };

/** Turns the steps of a run into events. Effects, interrupts and child runs are left to the turn of a worker (`turn.ts`) or a replay (`replay/`). */
export abstract class TurnBase {
  readonly events: RunEvent[] = [];
  run: Run;
  protected readonly host: Host;
  protected readonly plan: Plan;
  #scratch: Scratch = {};
  readonly #sizeMax: number;
  readonly #smallOnly: boolean;
  /** The size of the run with the additions of this turn; only its bytes where it is to stay small. Computed at the first addition. */
  #size: number | undefined;

  /** `smallOnly`: a turn that makes the run larger than small throws `LargeTurn`. */
  constructor(host: Host, plan: Plan, run: Run, smallOnly = false) {
    this.host = host;
    this.plan = plan;
    this.run = run;
    const room = roomOf(host);
    this.#smallOnly = smallOnly;
    this.#sizeMax = smallOnly ? room.smallBytes : room.maxRunBytes;
  }

  get size(): number {
    this.#size ??= this.#sizeBefore();
    return this.#size;
  }

  protected abstract launch(launch: Launch): void;
  protected abstract suspend(node: WorkflowNode, request: Suspending): void;
  protected abstract dispatch(node: WorkflowNode, outcome: Dispatching): void;

  /** The time that is written into payloads. */
  protected now(_node: WorkflowNode): string {
    return new Date(this.host.nowMs()).toISOString();
  }

  /** The versions that changes were pinned to at the first execution. Nodes hold this function while they execute, so it must not hold the plan. */
  protected recordedPins(): (changeId: string) => number | undefined {
    return unpinned;
  }

  protected act(step: Step): void {
    switch (step.type) {
      case "start":
        this.begin(step.node, step.attempt);
        break;
      case "skip": {
        const nodeId = step.node.id;
        this.emit([{ type: "node.skipped", nodeId, payload: { nodeId, reason: step.reason } }]);
        break;
      }
      case "loop": {
        const { edge, iteration, nodeIds } = step;
        const nodeId = edge.targetNodeId;
        this.emit([{ type: "assay.loop.entered", nodeId, payload: { edgeId: edge.id, nodeId, iteration, nodeIds } }]);
        break;
      }
      case "loop-limit": {
        const { nodeId, iterations, limit } = step;
        const message = `The loop back to node ${nodeId} may go round ${limit} times.`;
        this.emit([{ type: "workflow.loopback-limit", nodeId, payload: { nodeId, iterations, limit } }]);
        this.emit(failRun(this.run, { code: "loop_limit_exceeded", message }, nodeId));
        break;
      }
      case "fail":
        this.emit(failRun(this.run, step.error, step.nodeId));
        break;
      case "complete":
        if (!this.#takes(step.outputs.all)) this.#failAsTooLarge("With its outputs");
        else this.emit([completed(step.outputs)]);
        break;
    }
  }

  protected begin(node: WorkflowNode, attempt: number): void {
    const type = typeOf(this.host.nodeTypes, node);
    const missing = (type?.requires ?? []).filter((name) => !this.host.runtimeCapabilities.has(name));
    const breach = loopBreach(this.plan, this.run, node);
    const lacking = lackingModel(this.host.model, type?.requiredModelCapabilities ?? []);
    const depends = defined({ known: type !== undefined, missing, breach, lacking });
    this.emit(beginNode(this.run, node, attempt, depends));
    if (nodeOf(this.run, node.id)?.status === "executing") this.invoke(node, false);
  }

  /** A pure node ends in this turn; an effect node executes after it, so an event marks it as executing. */
  protected wake(node: WorkflowNode, woken: "assay.timer.fired" | "assay.resume.taken"): void {
    const nodeId = node.id;
    if (this.isEffect(node)) this.emit([{ type: woken, nodeId, payload: { nodeId } }]);
    this.invoke(node, woken === "assay.timer.fired");
  }

  protected isEffect(node: WorkflowNode): boolean {
    return typeOf(this.host.nodeTypes, node)?.kind === "effect";
  }

  /** Calls a pure node now; an effect node is called after the commit. */
  protected invoke(node: WorkflowNode, slept: boolean): void {
    const type = typeOf(this.host.nodeTypes, node);
    if (!type) return;
    const resolved = resolveInputs(this.plan, this.run, node);
    if ("error" in resolved) {
      this.settle(node, { type: "failed", error: resolved.error }, []);
      return;
    }
    const pins: EventDraft[] = [];
    const attempt = nodeOf(this.run, node.id)?.attempt ?? 0;
    const context = {
      node,
      config: node.config,
      inputs: resolved.inputs,
      run: this.run,
      channels: this.plan.definition.channels ?? {},
      attempt,
      slept,
      isSupervised: () => supervisedLoop(this.plan.graph).has(node.id),
      getVersion: versionSource(this.run, node.id, pins, this.recordedPins()),
      ...interruptsOf(this.run, node.id),
    };
    if (type.kind === "effect") {
      this.launch({ node, attempt, type, context, pins });
      return;
    }
    const outcome = outcomeOf(() => type.execute({ ...context, signal: NEVER }));
    this.settle(node, outcome, pins);
  }

  protected settle(node: WorkflowNode, outcome: NodeOutcome, pins: readonly EventDraft[]): void {
    const kept = outcome.type === "dispatch" ? outcome.harvest : outcome;
    if (kept !== undefined && outcome.type !== "failed" && outcome.type !== "sleep") {
      if (!this.#takes(kept)) {
        this.#failAsTooLarge(`With what node ${node.id} adds`, node.id);
        return;
      }
    }
    this.emit(pins);
    if (outcome.type === "suspend") this.suspend(node, outcome.request);
    else if (outcome.type === "dispatch") {
      if (outcome.harvest) this.emit(harvestEvents(this.plan, this.run, node.id, outcome.harvest));
      this.dispatch(node, outcome);
    } else this.emit(settleNode(this.plan, this.run, node, outcome, this.now(node)));
    this.endIfUnhandled(node);
  }

  protected endIfUnhandled(node: WorkflowNode): void {
    if (isTerminal(this.run.status)) return;
    const error = unhandled(this.plan, this.run, node.id);
    if (error !== undefined) this.emit(failRun(this.run, error, node.id));
  }

  /** Interrupts count too: they stay in the run with their data, each time a loop raises them anew. */
  #sizeBefore(): number {
    const { nodes, variables, channels, interrupts } = this.run;
    return this.#measured([nodes, variables, channels, interrupts], this.#sizeMax);
  }

  #measured(value: unknown, atMost: number): number {
    return this.#smallOnly ? jsonBytes(value, atMost) : sizeOf(value, atMost);
  }

  /** Whether the run has room for a value. Throws `LargeTurn` where the run would no longer be small. */
  #takes(value: unknown): boolean {
    const before = this.size;
    const added = this.#measured(value, Math.max(SMALL_ADDITION, this.#sizeMax - before));
    this.#size = before + added;
    if (this.#smallOnly && this.#size > this.#sizeMax) throw new LargeTurn();
    return mayTake(before, added, this.#sizeMax);
  }

  #failAsTooLarge(because: string, nodeId?: string): void {
    const message = `${because} the run would hold more than this host can keep.`;
    this.emit(failRun(this.run, { code: "run_too_large", message }, nodeId));
  }

  protected emit(drafts: readonly EventDraft[]): void {
    if (drafts.length === 0) return;
    const timestamp = new Date(this.host.nowMs()).toISOString();
    const sealed = sealDrafts(this.run, drafts);
    // Runs between two of these events are visible to this loop only; the run from before is not changed.
    this.#scratch = { ...onceSeen(this.#scratch), isFold: true };
    for (const draft of sealed) this.append(draft, timestamp);
    this.#scratch = onceSeen(this.#scratch);
  }

  /** Appends the draft to the log as it is. */
  protected append(draft: EventDraft, timestamp: string): void {
    const { runId, version: sequence } = this.run;
    const eventId = draft.eventId ?? this.host.newId("evt");
    const event = { ...draft, eventId, runId, sequence, timestamp } as RunEvent;
    this.run = evolve(this.run, event, this.#scratch);
    this.events.push(event);
  }
}

function completed({ all, shown }: RunOutputs): EventDraft {
  if (shown === undefined) return { type: "run.completed", payload: { outputs: all } };
  return { type: "run.completed", payload: { outputs: shown }, sealed: { outputs: all } };
}

const NEVER = new AbortController().signal;

function unpinned(): undefined {
  return undefined;
}
