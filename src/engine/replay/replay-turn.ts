import { defined } from "../../protocol/defined.ts";
import { type EventDraft, endsRun, type RunError, type RunEvent } from "../../protocol/events.ts";
import type { ForkedFrom } from "../../protocol/runs/forked-from.ts";
import { activeNodes, isActive, type NodeState, nodeOf, type Run, visitOf } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { WorkflowNode } from "../../protocol/workflows/workflow.ts";
import type { Host } from "../host.ts";
import { conditionsAhead } from "../runs/decide/conditions-ahead.ts";
import { endCancelled, failRun } from "../runs/decide/end-run.ts";
import { nextSteps, type Step } from "../runs/decide/next-step.ts";
import type { Dispatching } from "../runs/decide/settle-node.ts";
import { readLog } from "../runs/read-log.ts";
import { tooLarge } from "../runs/too-large.ts";
import { checkedInPieces, type Pieces } from "../schemas/schema-checks.ts";
import { roomOf } from "../worker/run-room.ts";
import type { Turn } from "../worker/turn.ts";
import { LargeTurn, type Suspending, TurnBase } from "../worker/turn-base.ts";
import type { Plan } from "../workflows/decide/plan.ts";
import { divergenceOf, withRecordedTexts } from "./divergence.ts";
import { SourceRecord } from "./source-record.ts";
import { StepBatches } from "./step-batches.ts";

/**
 * Executes a replay to its end in one turn: a replay never waits. Pure nodes are computed again; events from outside are taken from the log of
 * the source.
 */
export async function replayTurn(host: Host, plan: Plan, before: Run, smallOnly = false): Promise<Turn> {
  const from = before.forkedFrom;
  if (from === undefined) throw new Error(`run ${before.runId} is not a replay`);
  const room = roomOf(host);
  const bytes = await host.store.logBytes(from.runId, from.sourceVersion);
  if (smallOnly && bytes > room.smallBytes) throw new LargeTurn();
  if (bytes > room.maxLogBytes) return tooLarge(host, before, `The log of run ${from.runId} is ${bytes} bytes`);
  const events = await readLog(host.store, from.runId, from.sourceVersion);
  const record = () => new SourceRecord(from.runId, events, before.version);
  return checkedInPieces(async (pieces) => {
    const newTurn = () => new ReplayTurn(host, plan, before, from, record(), pieces);
    const turn = (await beyondCancellation(newTurn())) ?? newTurn();
    await turn.go();
    return { run: turn.run, events: turn.events, launches: [], children: [], size: turn.size };
  });
}

/**
 * The replay without the cancellation of its source, where it reaches an effect that the source never reached: a cancellation is no outcome of
 * an effect, so the replay fails there. Other cancellations are repeated.
 */
async function beyondCancellation(turn: ReplayTurn): Promise<ReplayTurn | undefined> {
  if (!turn.leaveOutCancellation()) return undefined;
  await turn.go();
  return turn.missedNewEffect ? turn : undefined;
}

/** Steps between two pauses. */
const STEPS_AT_ONCE = 200;

class ReplayTurn extends TurnBase {
  readonly #from: ForkedFrom;
  readonly #source: SourceRecord;
  readonly #steps: StepBatches;
  readonly #pieces: Pieces;
  /** The event of the source that is next while the replay keeps step with it. */
  #next: number;
  #inStep = true;
  /** Ids of repeated events, by their ids in the source: later events refer to them. */
  readonly #names = new Map<string, string>();
  /** Steps that were decided together and are not taken yet; each is a piece of its own, because it may take long. */
  #ahead: Step[] = [];
  #diverged = false;
  /** Where the replay stops following its source, when it leaves out the cancellation. */
  #until = Number.POSITIVE_INFINITY;
  #missedNewEffect = false;

  constructor(host: Host, plan: Plan, run: Run, from: ForkedFrom, source: SourceRecord, pieces: Pieces) {
    super(host, plan, run);
    this.#from = from;
    this.#source = source;
    this.#pieces = pieces;
    this.#steps = new StepBatches(plan);
    this.#next = run.version;
  }

  /** Whether the replay ended at an effect that its source never reached. */
  get missedNewEffect(): boolean {
    return this.#missedNewEffect;
  }

  /** False where there is no cancellation ahead, or no effect that the source has not reached. */
  leaveOutCancellation(): boolean {
    const from = this.#source.cancelledFrom;
    if (from === undefined || from < this.#next || this.run.status === "cancelling") return false;
    this.#until = from;
    return this.plan.graph.order.some((node) => this.isEffect(node) && !this.#source.hasReached(node.id));
  }

  /** The next event of the source, to be repeated or computed. */
  get #original(): RunEvent | undefined {
    if (this.#until < Number.POSITIVE_INFINITY) {
      while (this.#source.events[this.#next]?.type === "assay.cancel.requested") this.#next += 1;
    }
    return this.#inStep && this.#next < this.#until ? this.#source.events[this.#next] : undefined;
  }

  async go(): Promise<void> {
    if (!isTerminal(this.run.status) && this.#source.events.length < this.#from.sourceVersion) {
      this.emit(failRun(this.run, missing(`Run ${this.#from.runId} was deleted.`)));
    }
    for (let steps = 1; !isTerminal(this.run.status); steps++) {
      const { length } = this.events;
      const original = this.#original;
      const decides = this.#ahead.length === 0 && (original === undefined || this.#steps.isEmpty);
      if (decides) await this.#evaluateAhead();
      this.#pieces.take(() => {
        if (this.#ahead.length > 0) this.#stepAhead();
        else if (original === undefined) this.#goOn();
        else this.#follow(original);
      });
      if (this.events.length === length) throw new Error(`the replay ${this.run.runId} does not get on`);
      if (steps % STEPS_AT_ONCE === 0 || this.#pieces.needPause) await this.#pieces.pause();
    }
  }

  /** Conditions of many nodes are evaluated with pauses between them. */
  async #evaluateAhead(): Promise<void> {
    const ahead = conditionsAhead(this.plan, this.run, this.plan.graph.order)[Symbol.iterator]();
    while (!this.#pieces.take(() => ahead.next().done)) if (this.#pieces.needPause) await this.#pieces.pause();
  }

  /** Follows one event of the source: repeats events from outside, and computes the others. */
  #follow(original: RunEvent): void {
    if (this.#source.isRecorded(this.#next)) {
      this.#steps.nextTurn();
      this.#again(this.#next);
      return;
    }
    const node = original.nodeId === undefined ? undefined : this.plan.graph.node.get(original.nodeId);
    const state = node && nodeOf(this.run, node.id);
    if (node !== undefined && state !== undefined && isActive(state)) {
      this.#steps.interrupt();
      this.#followActive(original, node, state);
      return;
    }
    const step = this.#steps.take(this.run, original);
    // A fork may begin between the last node and the end of the run.
    if (original.type === "run.failed" && this.events.length === 0) this.#again(this.#next);
    else if (step !== undefined) this.act(step);
    else this.#goOn();
  }

  #followActive(original: RunEvent, node: WorkflowNode, { status, attempt }: NodeState): void {
    const begins = original.type === "node.started" || original.type === "cap.breached";
    if (begins) this.begin(node, status === "retrying" ? attempt : attempt + 1);
    else if (this.isEffect(node) || this.#source.isMidway(this.#next)) this.#again(this.#next);
    else if (status === "sleeping") this.wake(node, "assay.timer.fired");
    else if (status === "resumed") this.wake(node, "assay.resume.taken");
    // The fork began in the middle of the events of one execution.
    else this.#again(this.#next);
  }

  /** Takes one step beyond the log of the source, or after a divergence. */
  #goOn(): void {
    const { status, pause, cancel } = this.run;
    if (status === "cancelling") this.emit(endCancelled(this.run, cancel ?? { by: "unknown" }));
    else if (status === "paused") this.emit([{ type: "run.resumed", payload: {} }]);
    else if (pause !== undefined) this.emit([{ type: "assay.pause.withdrawn", payload: { by: "replay" } }]);
    else if (!this.#goOnActive()) {
      this.#ahead = [...nextSteps(this.plan, this.run)];
      this.#stepAhead();
    }
  }

  #stepAhead(): void {
    const step = this.#ahead.shift();
    if (step !== undefined) this.act(step);
  }

  #goOnActive(): boolean {
    const [nodeId = "", state] = activeNodes(this.run)[0] ?? [];
    const node = this.plan.graph.node.get(nodeId);
    if (state === undefined || node === undefined) return false;
    const { status, attempt, interruptId = "", childRunId = "" } = state;
    if (status === "retrying") this.begin(node, attempt);
    else if (this.isEffect(node)) this.#recall(node, attempt);
    else if (status === "sleeping") this.wake(node, "assay.timer.fired");
    else if (status === "resumed") this.wake(node, "assay.resume.taken");
    else if (status === "suspended") this.#againOrMissing(node, this.#source.answering(nodeId, interruptId), "answer");
    else if (status === "delegated") this.#againOrMissing(node, this.#source.childEnding(nodeId, childRunId), "child");
    else this.begin(node, attempt + 1);
    return true;
  }

  /** An effect is never repeated: its recorded outcome is repeated, or the replay ends. */
  #recall(node: WorkflowNode, attempt: number): void {
    const visit = visitOf(this.run, node.id);
    const outcome = this.#source.outcome(node.id, visit, attempt);
    if (outcome.length === 0 && this.#source.wasTriedAgain(node.id, visit, attempt)) this.begin(node, attempt + 1);
    else this.#againOrMissing(node, outcome, "outcome");
  }

  #againOrMissing(node: WorkflowNode, indices: readonly number[], what: keyof typeof MISSING): void {
    for (const index of indices) this.#again(index);
    if (indices.length === 0) this.#missing(node, what);
  }

  /** Ends the replay at a missing record. The workflow does not handle this failure, which is not its own. */
  #missing({ id: nodeId }: WorkflowNode, what: keyof typeof MISSING): void {
    if (what === "outcome") this.#missedNewEffect = !this.#source.hasReached(nodeId);
    const error = missing(`Run ${this.#from.runId} has ${MISSING[what]} node ${nodeId} here.`);
    const attempts = (nodeOf(this.run, nodeId)?.attempt ?? 0) + 1;
    this.emit([{ type: "node.failed", nodeId, payload: { nodeId, error, attempts } }]);
    this.emit(failRun(this.run, error, nodeId));
  }

  /** The id of a cause in this replay. The decision of a dispatch may be in the copied part of the log, which has no names here. */
  #causeHere(index: number, causationId: string): string | undefined {
    return this.#source.beginsDispatch(index) ? this.run.orchestrator?.eventId : this.#names.get(causationId);
  }

  /** Repeats an event of the source with its payload. */
  #again(index: number): void {
    if (isTerminal(this.run.status)) return;
    const { type, payload, sealed, nodeId, causationId, eventId } = this.#source.events[index] as RunEvent;
    const cause = causationId === undefined ? undefined : this.#causeHere(index, causationId);
    const name = this.host.newId("evt");
    this.#names.set(eventId, name);
    const draft = defined({ type, payload, eventId: name, causationId: cause, nodeId, sealed }) as EventDraft;
    this.#source.markRepeated(index);
    this.append(draft, new Date(this.host.nowMs()).toISOString());
    const node = nodeId === undefined ? undefined : this.plan.graph.node.get(nodeId);
    if (node !== undefined && (type === "node.completed" || type === "node.failed")) this.endIfUnhandled(node);
  }

  protected override launch(): void {
    // The outcome is in the log of the source.
  }

  protected override suspend(node: WorkflowNode, { key }: Suspending): void {
    const refused = this.#refusedHere(node);
    const raising = this.#source.raising(node.id, key);
    if (refused !== undefined) this.settle(node, { type: "failed", error: refused }, []);
    else this.#againOrMissing(node, raising, "question");
  }

  protected override dispatch(node: WorkflowNode, { waits }: Dispatching): void {
    const refused = this.#refusedHere(node);
    if (refused !== undefined) {
      this.settle(node, { type: "failed", error: refused }, []);
      return;
    }
    const dispatching = this.#source.dispatching(node.id, visitOf(this.run, node.id));
    this.#againOrMissing(node, dispatching, "child");
    const started = this.#source.events[dispatching[0] ?? -1];
    if (waits || started?.type !== "assay.child.started") return;
    this.settle(node, { type: "completed", outputs: { childRunId: started.payload.childRunId } }, []);
  }

  /** The recorded refusal of the node's interrupt or dispatch at this place. */
  #refusedHere({ id }: WorkflowNode): RunError | undefined {
    const refusal = this.#original !== undefined ? this.#source.refusal(this.#next, id) : undefined;
    for (const index of refusal?.before ?? []) this.#again(index);
    return refusal?.error;
  }

  protected override now(node: WorkflowNode): string {
    const recorded = this.#original !== undefined ? this.#source.writtenAt(this.#next, node.id) : undefined;
    return recorded ?? super.now(node);
  }

  protected override recordedPins(): (changeId: string) => number | undefined {
    const source = this.#source;
    return (changeId) => source.pinOf(changeId);
  }

  protected override append(computed: EventDraft, timestamp: string): void {
    const original = this.#original;
    const draft = original === undefined ? computed : withRecordedTexts(original, computed);
    const kind = original === undefined ? undefined : divergenceOf(original, draft);
    if (original === undefined || kind === undefined) {
      this.#step(original);
      super.append(draft, timestamp);
      return;
    }
    const report = this.#diverged ? [] : [divergedAt(this.#from.runId, this.run.version, original, kind, draft)];
    this.#diverged = true;
    if (kind === "output") this.#step(original);
    else this.#inStep = false;
    // The end of a run is its last event.
    const order = endsRun(draft.type) ? [...report, draft] : [draft, ...report];
    for (const one of order) super.append(one, timestamp);
  }

  #step(original: RunEvent | undefined): void {
    if (original === undefined) return;
    this.#source.markRepeated(this.#next);
    this.#next += 1;
  }
}

const MISSING = {
  outcome: "no recorded outcome of",
  answer: "no recorded answer to",
  question: "not asked at",
  child: "no recorded sub-workflow of",
} as const;

function missing(what: string): RunError {
  const message = `${what} A replay neither repeats an effect nor asks a person again.`;
  return { code: "replay_source_missing", message, retryable: false };
}

function divergedAt(
  sourceRunId: string,
  atSequence: number,
  { eventId: originalEventId }: RunEvent,
  divergenceKind: NonNullable<ReturnType<typeof divergenceOf>>,
  { type: divergencePoint }: EventDraft,
): EventDraft {
  const payload = { sourceRunId, atSequence, originalEventId, divergenceKind, divergencePoint };
  return { type: "replay.diverged", payload };
}
