import { correlationIdOf } from "../../formats/gates/gate-digest.ts";
import { defined } from "../../protocol/defined.ts";
import type { EventDraft, PayloadOf, RunEvent } from "../../protocol/events.ts";
import { pinsAgain } from "../../protocol/evolve/agent.ts";
import { own } from "../../protocol/own.ts";
import type { CHAIN_EVENT } from "../../protocol/runs/orchestrator.ts";
import { activeNodes, type NodeState, nodeOf, type Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { WorkflowNode } from "../../protocol/workflows/workflow.ts";
import type { RunWrite } from "../../store/port/store.ts";
import { type ChildPlans, startChild } from "../families/child-runs.ts";
import { expireInterrupt } from "../gates/decide/close-interrupt.ts";
import { raiseInterrupt } from "../gates/decide/raise-interrupt.ts";
import type { Host } from "../host.ts";
import type { ChildRoom } from "../runs/creation-limits.ts";
import { chainEvent } from "../runs/decide/chain-event.ts";
import { conditionsAhead } from "../runs/decide/conditions-ahead.ts";
import { checkDeadline, endCancelled } from "../runs/decide/end-run.ts";
import { frontier, nextSteps, type Step } from "../runs/decide/next-step.ts";
import type { Dispatching } from "../runs/decide/settle-node.ts";
import type { Plan } from "../workflows/decide/plan.ts";
import type { NodeOutcome } from "./node-type.ts";
import { type Launch, type Suspending, TurnBase } from "./turn-base.ts";

export type { Launch } from "./turn-base.ts";

export interface Turn {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly launches: readonly Launch[];
  /** Child runs that nodes started; they are created in the same commit. */
  readonly children: readonly RunWrite[];
  /** About how many bytes of JSON the run is after the turn. */
  readonly size: number;
}

/** Events of an attempt of an effect node from before its end. */
export interface Noted {
  readonly nodeId: string;
  readonly attempt: number;
  readonly events: readonly EventDraft[];
}

/** An ended attempt of an effect node. */
export interface Finished {
  readonly nodeId: string;
  readonly attempt: number;
  readonly outcome: NodeOutcome;
  readonly pins: readonly EventDraft[];
  /** Events that are written before the outcome. */
  readonly events?: readonly EventDraft[];
}

interface TurnBounds {
  /** The turn of a large run throws `LargeTurn`. */
  readonly smallOnly?: boolean;
  /** Bounds the runs that the turn starts, after a turn without it was refused. */
  readonly room?: ChildRoom;
}

/**
 * Takes a run as far as it goes without waiting: settles nodes that have finished or are due, starts nodes that are ready, and executes pure
 * nodes. Nothing is written here; the caller commits the events, all or nothing.
 *
 * `executing` are the attempts of this process. An executing node that is not among them lost its worker and starts a new attempt.
 */
export function takeTurn(...turn: Parameters<typeof turnSteps>): Turn {
  const steps = turnSteps(...turn);
  let next = steps.next();
  while (!next.done) next = steps.next();
  return next.value;
}

/** The same turn in steps, so that the caller can pause in between. */
export function* turnSteps(
  host: Host,
  plan: Plan,
  before: Run,
  finished: readonly Finished[],
  executing: ReadonlyMap<string, number>,
  childPlans: ChildPlans = new Map(),
  noted: readonly Noted[] = [],
  bounds: TurnBounds = {},
): Generator<void, Turn, void> {
  const turn = new TurnInProgress(host, plan, before, childPlans, bounds);
  turn.note(noted);
  yield* turn.settleFinished(finished);
  turn.endIfOver();
  yield* turn.wakeActive(executing);
  yield* turn.startReady();
  return turn;
}

/** Whether an attempt still counts: an immediate pause or a cancellation may have ended it. */
export function counts(run: Run, { nodeId, attempt }: Pick<Noted, "nodeId" | "attempt">): boolean {
  const state = nodeOf(run, nodeId);
  return state?.status === "executing" && state.attempt === attempt;
}

class TurnInProgress extends TurnBase implements Turn {
  readonly launches: Launch[] = [];
  readonly children: RunWrite[] = [];
  readonly #childPlans: ChildPlans;
  readonly #room: ChildRoom | undefined;

  constructor(host: Host, plan: Plan, run: Run, childPlans: ChildPlans, { smallOnly = false, room }: TurnBounds) {
    super(host, plan, run, smallOnly);
    this.#childPlans = childPlans;
    this.#room = room;
  }

  note(noted: readonly Noted[]): void {
    for (const one of noted) {
      if (counts(this.run, one)) this.emit(one.events.filter((event) => !pinsAgain(this.run, event)));
    }
  }

  *settleFinished(finished: readonly Finished[]): Generator<void> {
    for (const one of finished) {
      const node = this.plan.graph.node.get(one.nodeId);
      if (!node || !counts(this.run, one)) continue;
      this.emit(one.events ?? []);
      this.settle(node, one.outcome, one.pins);
      yield;
    }
  }

  endIfOver(): void {
    if (this.run.status === "cancelling") this.emit(endCancelled(this.run, this.run.cancel ?? { by: "unknown" }));
    if (!isTerminal(this.run.status)) this.emit(checkDeadline(this.run, this.host.nowMs()));
  }

  *wakeActive(executing: ReadonlyMap<string, number>): Generator<void> {
    for (const [nodeId, state] of activeNodes(this.run)) {
      if (isTerminal(this.run.status) || this.run.status === "paused") return;
      const node = this.plan.graph.node.get(nodeId);
      if (!node) continue;
      const due = (state.dueAtMs ?? 0) <= this.host.nowMs();
      if (state.status === "executing" && executing.get(nodeId) !== state.attempt) this.begin(node, state.attempt + 1);
      else if (state.status === "sleeping" && due) this.wake(node, "assay.timer.fired");
      else if (state.status === "retrying" && due) this.begin(node, state.attempt);
      else if (state.status === "suspended" && due) this.#expire(node, state);
      else if (state.status === "resumed") this.wake(node, "assay.resume.taken");
      yield;
    }
  }

  #expire(node: WorkflowNode, { dueAtMs, interruptId }: NodeState): void {
    const interrupt = interruptId === undefined ? undefined : own(this.run.interrupts, interruptId);
    if (dueAtMs === undefined || interrupt === undefined) return;
    this.emit(expireInterrupt(interrupt, this.now(node)));
    this.wake(node, "assay.resume.taken");
  }

  *startReady(): Generator<void> {
    let among = this.plan.graph.order;
    while (!isTerminal(this.run.status) && this.run.status !== "paused") {
      if (this.run.pause) {
        this.#pauseWhenDrained(this.run.pause);
        return;
      }
      yield* conditionsAhead(this.plan, this.run, among);
      const steps = nextSteps(this.plan, this.run, among);
      if (steps.length === 0) return;
      for (const step of steps) {
        if (isTerminal(this.run.status)) break;
        this.act(step);
        yield;
      }
      this.#requireProgress(steps);
      among = frontier(this.plan, this.run, among, steps);
    }
  }

  #pauseWhenDrained({ drainPolicy, reason }: NonNullable<Run["pause"]>): void {
    if (activeNodes(this.run).length > 0) return;
    this.emit([{ type: "run.paused", payload: defined({ drainPolicy, reason }) }]);
  }

  /** Throws for a step that did not change its node: it would be taken for ever, and block the process. */
  #requireProgress(steps: readonly Step[]): void {
    if (isTerminal(this.run.status)) return;
    for (const step of steps) {
      if ((step.type === "start" || step.type === "skip") && nodeOf(this.run, step.node.id) === undefined) {
        throw new Error(`the step of node ${step.node.id} in run ${this.run.runId} changed nothing`);
      }
    }
  }

  protected override launch(launch: Launch): void {
    this.launches.push(launch);
  }

  protected override suspend(node: WorkflowNode, request: Suspending): void {
    const correlation = request.kind === "external-event" ? request.data["correlation"] : undefined;
    const timeoutMs = request.timeoutMs ?? (request.kind === "approval" ? this.host.gates.timeoutMs : undefined);
    const raised = raiseInterrupt(this.run, node.id, {
      ...request,
      ...defined({ timeoutMs }),
      interruptId: this.host.newId("int"),
      at: this.now(node),
      ...(correlation === undefined ? {} : { correlationId: correlationIdOf(correlation) }),
    });
    if ("error" in raised) this.settle(node, { type: "failed", error: raised.error }, []);
    else this.emit(raised);
  }

  /** Records the beginning of a worker's dispatch; undefined where the node has its worker already. */
  #recordBegin(node: WorkflowNode, outcome: Dispatching): string | undefined {
    if (outcome.chained === undefined || outcome.childRunId !== undefined) return undefined;
    return this.#recordPhase(node, outcome, { phase: "dispatch.began" }, this.run.orchestrator?.eventId);
  }

  #recordPhase(
    node: WorkflowNode,
    { workflowId: workerId }: Dispatching,
    what: Pick<PayloadOf<typeof CHAIN_EVENT>, "phase" | "childRunId" | "error">,
    causationId?: string,
  ): string | undefined {
    const { phase, ...rest } = what;
    const payload = { phase, workerId, parentRunId: this.run.runId, ...rest };
    this.emit([chainEvent(node.id, payload, causationId)]);
    return this.events.at(-1)?.eventId;
  }

  #start(node: WorkflowNode, outcome: Dispatching): ReturnType<typeof startChild> {
    const room = this.#room;
    if (room !== undefined && outcome.childRunId === undefined && this.children.length >= room.left) {
      return { error: room.error };
    }
    return startChild(this.host, this.plan, this.run, node.id, outcome, this.#childPlans);
  }

  protected override dispatch(node: WorkflowNode, outcome: Dispatching): void {
    const began = this.#recordBegin(node, outcome);
    const started = this.#start(node, outcome);
    if ("error" in started) {
      if (began) this.#recordPhase(node, outcome, { phase: "dispatch.failed", error: started.error }, began);
      this.settle(node, { type: "failed", error: started.error }, []);
      return;
    }
    if (started.write !== undefined) this.children.push(started.write);
    this.emit(started.events);
    const { childRunId } = started;
    if (began) this.#recordPhase(node, outcome, { phase: "dispatch.succeeded", childRunId }, began);
    if (!outcome.waits) this.settle(node, { type: "completed", outputs: { childRunId } }, []);
  }
}
