import type { EventDraft, RunEvent } from "../protocol/events.ts";
import { own } from "../protocol/own.ts";
import { activeNodes, type NodeState, nodeOf, type Run, type Scratch } from "../protocol/run.ts";
import { isTerminal } from "../protocol/run-status.ts";
import type { WorkflowNode } from "../protocol/workflow.ts";
import type { RunWrite } from "../store/store.ts";
import { correlationIdOf } from "./correlation.ts";
import { beginNode } from "./decide/begin-node.ts";
import { endCancelled } from "./decide/cancel-run.ts";
import { expireInterrupt } from "./decide/close-interrupt.ts";
import { checkDeadline, failRun } from "./decide/end-run.ts";
import { frontier, nextSteps, type RunOutputs, type Step } from "./decide/next-step.ts";
import type { Plan } from "./decide/plan.ts";
import { type InterruptRequest, raiseInterrupt } from "./decide/raise-interrupt.ts";
import { resolveInputs } from "./decide/resolve-inputs.ts";
import { type Dispatching, settleNode } from "./decide/settle-node.ts";
import { unhandled } from "./decide/unhandled.ts";
import type { Host } from "./host.ts";
import { outcomeOf, versionSource } from "./node-call.ts";
import type { EffectNodeType, NodeContext, NodeOutcome } from "./node-type.ts";
import { LARGEST_RUN, sizeOf } from "./run-size.ts";
import { stamp } from "./stamp.ts";
import { type ChildPlans, startChild } from "./start-child.ts";
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

export interface Turn {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly launches: readonly Launch[];
  /** Runs that nodes dispatched; they come to be in the same commit. */
  readonly children: readonly RunWrite[];
}

/** An effect node's attempt that has ended. */
export interface Finished {
  readonly nodeId: string;
  readonly attempt: number;
  readonly outcome: NodeOutcome;
  readonly pins: readonly EventDraft[];
}

/**
 * Takes a run as far as it goes without waiting: settles what has finished or is due, starts what is ready, and
 * computes pure nodes on the spot. Nothing is written here; the caller commits the events, all or nothing.
 *
 * `executing` names the attempts this process is running; an executing node that is not among them belonged to a
 * worker that is gone, and starts afresh.
 */
export function takeTurn(
  host: Host,
  plan: Plan,
  before: Run,
  finished: readonly Finished[],
  executing: ReadonlyMap<string, number>,
  childPlans: ChildPlans = new Map(),
): Turn {
  const turn = new TurnInProgress(host, plan, before, childPlans);
  turn.settleFinished(finished);
  turn.endIfOver();
  turn.wakeActive(executing);
  turn.startReady();
  return turn;
}

class TurnInProgress implements Turn {
  readonly events: RunEvent[] = [];
  readonly launches: Launch[] = [];
  readonly children: RunWrite[] = [];
  run: Run;
  readonly #host: Host;
  readonly #plan: Plan;
  readonly #childPlans: ChildPlans;
  readonly #scratch: Scratch = {};
  /** About how many characters the run holds and this turn has added; known once somebody asked. */
  #size: number | undefined;

  constructor(host: Host, plan: Plan, run: Run, childPlans: ChildPlans) {
    this.#host = host;
    this.#plan = plan;
    this.#childPlans = childPlans;
    this.run = run;
  }

  settleFinished(finished: readonly Finished[]): void {
    for (const { nodeId, attempt, outcome, pins } of finished) {
      const node = this.#plan.graph.node.get(nodeId);
      const state = nodeOf(this.run, nodeId);
      // A pause at once or a cancellation may have ended the attempt before its result came.
      if (node && state?.status === "executing" && state.attempt === attempt) this.#settle(node, outcome, pins);
    }
  }

  endIfOver(): void {
    if (this.run.status === "cancelling") this.#emit(endCancelled(this.run, this.run.cancel ?? { by: "unknown" }));
    if (!isTerminal(this.run.status)) this.#emit(checkDeadline(this.run, this.#host.nowMs()));
  }

  wakeActive(executing: ReadonlyMap<string, number>): void {
    for (const [nodeId, state] of activeNodes(this.run)) {
      if (isTerminal(this.run.status) || this.run.status === "paused") return;
      const node = this.#plan.graph.node.get(nodeId);
      if (!node) continue;
      const due = (state.dueAtMs ?? 0) <= this.#host.nowMs();
      if (state.status === "executing" && executing.get(nodeId) !== state.attempt) this.#begin(node, state.attempt + 1);
      else if (state.status === "sleeping" && due) this.#wake(node, "assay.timer.fired");
      else if (state.status === "retrying" && due) this.#begin(node, state.attempt);
      else if (state.status === "suspended" && due) this.#expire(node, state);
      else if (state.status === "resumed") this.#wake(node, "assay.resume.taken");
    }
  }

  #expire(node: WorkflowNode, { dueAtMs, interruptId }: NodeState): void {
    const interrupt = interruptId === undefined ? undefined : own(this.run.interrupts, interruptId);
    if (dueAtMs === undefined || interrupt === undefined) return;
    this.#emit(expireInterrupt(interrupt, this.#now()));
    this.#wake(node, "assay.resume.taken");
  }

  startReady(): void {
    let among = this.#plan.graph.order;
    while (!isTerminal(this.run.status) && this.run.status !== "paused") {
      if (this.run.pause) {
        this.#pauseWhenDrained(this.run.pause);
        return;
      }
      const steps = nextSteps(this.#plan, this.run, among);
      if (steps.length === 0) return;
      for (const step of steps) if (!isTerminal(this.run.status)) this.#act(step);
      this.#requireProgress(steps);
      among = frontier(this.#plan, this.run, among, steps);
    }
  }

  #pauseWhenDrained({ drainPolicy, reason }: NonNullable<Run["pause"]>): void {
    if (activeNodes(this.run).length > 0) return;
    this.#emit([{ type: "run.paused", payload: { drainPolicy, ...(reason === undefined ? {} : { reason }) } }]);
  }

  /** A step that leaves its node as it was would be taken again and again, and hold up the whole process. */
  #requireProgress(steps: readonly Step[]): void {
    if (isTerminal(this.run.status)) return;
    for (const step of steps) {
      if ((step.type === "start" || step.type === "skip") && nodeOf(this.run, step.node.id) === undefined) {
        throw new Error(`the step of node ${step.node.id} in run ${this.run.runId} changed nothing`);
      }
    }
  }

  #act(step: Step): void {
    switch (step.type) {
      case "start":
        this.#begin(step.node, step.attempt);
        break;
      case "skip": {
        const nodeId = step.node.id;
        this.#emit([{ type: "node.skipped", nodeId, payload: { nodeId, reason: step.reason } }]);
        break;
      }
      case "loop": {
        const { edge, iteration, nodeIds } = step;
        const nodeId = edge.targetNodeId;
        this.#emit([{ type: "assay.loop.entered", nodeId, payload: { edgeId: edge.id, nodeId, iteration, nodeIds } }]);
        break;
      }
      case "loop-limit": {
        const { nodeId, iterations, limit } = step;
        const message = `The loop back to node ${nodeId} may go round ${limit} times.`;
        this.#emit([{ type: "workflow.loopback-limit", nodeId, payload: { nodeId, iterations, limit } }]);
        this.#emit(failRun(this.run, { code: "loop_limit_exceeded", message }, nodeId));
        break;
      }
      case "fail":
        this.#emit(failRun(this.run, step.error, step.nodeId));
        break;
      case "complete":
        this.#emit([completed(step.outputs)]);
        break;
    }
  }

  #begin(node: WorkflowNode, attempt: number): void {
    const type = this.#host.nodeTypes.get(node.typeId);
    const missing = (type?.requires ?? []).filter((name) => !this.#host.runtimeCapabilities.has(name));
    this.#emit(beginNode(this.run, node, attempt, { known: type !== undefined, missing }));
    if (nodeOf(this.run, node.id)?.status === "executing") this.#invoke(node, false);
  }

  /** A pure node ends in this turn; an effect node executes after it, and its result finds it doing so. */
  #wake(node: WorkflowNode, woken: "assay.timer.fired" | "assay.resume.taken"): void {
    const nodeId = node.id;
    if (this.#host.nodeTypes.get(node.typeId)?.kind === "effect") {
      this.#emit([{ type: woken, nodeId, payload: { nodeId } }]);
    }
    this.#invoke(node, woken === "assay.timer.fired");
  }

  /** Calls a pure node now; leaves an effect node for after the commit. */
  #invoke(node: WorkflowNode, slept: boolean): void {
    const type = this.#host.nodeTypes.get(node.typeId);
    if (!type) return;
    const resolved = resolveInputs(this.#plan, this.run, node);
    if ("error" in resolved) {
      this.#settle(node, { type: "failed", error: resolved.error }, []);
      return;
    }
    const pins: EventDraft[] = [];
    const attempt = nodeOf(this.run, node.id)?.attempt ?? 0;
    const context = {
      node,
      config: node.config,
      inputs: resolved.inputs,
      run: this.run,
      channels: this.#plan.definition.channels ?? {},
      attempt,
      slept,
      getVersion: versionSource(this.run, node.id, pins),
      ...interruptsOf(this.run, node.id),
    };
    if (type.kind === "effect") {
      this.launches.push({ node, attempt, type, context, pins });
      return;
    }
    const outcome = outcomeOf(() => type.execute({ ...context, signal: NEVER }));
    this.#settle(node, outcome, pins);
  }

  #settle(node: WorkflowNode, outcome: NodeOutcome, pins: readonly EventDraft[]): void {
    if (outcome.type === "completed" || outcome.type === "suspend") {
      this.#size = (this.#size ?? this.#sizeBefore()) + sizeOf(outcome);
      if (this.#size > LARGEST_RUN) {
        const message = `With what node ${node.id} adds the run would hold more than this host can keep.`;
        this.#emit(failRun(this.run, { code: "run_too_large", message }, node.id));
        return;
      }
    }
    this.#emit(pins);
    if (outcome.type === "suspend") this.#suspend(node, outcome.request);
    else if (outcome.type === "dispatch") this.#dispatch(node, outcome);
    else this.#emit(settleNode(this.#plan, this.run, node, outcome, this.#now()));
    if (isTerminal(this.run.status)) return;
    const error = unhandled(this.#plan, this.run, node.id);
    if (error !== undefined) this.#emit(failRun(this.run, error, node.id));
  }

  /** Interrupts stay in the run with what they showed, each time a loop raises them anew. */
  #sizeBefore(): number {
    const { nodes, variables, channels, interrupts } = this.run;
    return sizeOf([nodes, variables, channels, interrupts]);
  }

  #suspend(node: WorkflowNode, request: InterruptRequest & { readonly key: string }): void {
    const correlation = request.kind === "external-event" ? request.data["correlation"] : undefined;
    const timeoutMs = request.timeoutMs ?? (request.kind === "approval" ? this.#host.gates.timeoutMs : undefined);
    const raised = raiseInterrupt(this.run, node.id, {
      ...request,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      interruptId: this.#host.newId("int"),
      at: this.#now(),
      ...(correlation === undefined ? {} : { correlationId: correlationIdOf(correlation) }),
    });
    if ("error" in raised) this.#settle(node, { type: "failed", error: raised.error }, []);
    else this.#emit(raised);
  }

  #dispatch(node: WorkflowNode, outcome: Dispatching): void {
    const started = startChild(this.#host, this.#plan, this.run, node.id, outcome, this.#childPlans);
    if ("error" in started) {
      this.#settle(node, { type: "failed", error: started.error }, []);
      return;
    }
    if (started.write !== undefined) this.children.push(started.write);
    this.#emit(started.events);
    const { childRunId } = started;
    if (!outcome.waits) this.#settle(node, { type: "completed", outputs: { childRunId } }, []);
  }

  #now(): string {
    return new Date(this.#host.nowMs()).toISOString();
  }

  #emit(drafts: readonly EventDraft[]): void {
    if (drafts.length === 0) return;
    const { nowMs, newId } = this.#host;
    const { runId } = this.run;
    const stamped = stamp(this.run, drafts, { runId, nowMs: nowMs(), newId, scratch: this.#scratch });
    this.run = stamped.run;
    for (const event of stamped.events) this.events.push(event);
  }
}

function completed({ all, shown }: RunOutputs): EventDraft {
  if (shown === undefined) return { type: "run.completed", payload: { outputs: all } };
  return { type: "run.completed", payload: { outputs: shown }, sealed: { outputs: all } };
}

const NEVER = new AbortController().signal;
