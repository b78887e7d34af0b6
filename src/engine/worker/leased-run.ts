import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import { deadlineMs, wakeAtMs } from "../../protocol/runs/due-times.ts";
import { isReplay } from "../../protocol/runs/forked-from.ts";
import { nodeOf, type Run } from "../../protocol/runs/run.ts";
import type { RunWrite } from "../../store/port/store.ts";
import { childPlansOf } from "../families/child-runs.ts";
import { endChildren, endHeadOnly, familyWrites, withFamily } from "../families/family.ts";
import { externalWaits, offerHeld } from "../gates/held-events.ts";
import type { Host } from "../host.ts";
import { replayTurn } from "../replay/replay-turn.ts";
import { type ChildRoom, childRoom, creationLimits } from "../runs/creation-limits.ts";
import { isHeadOnly, tooLarge } from "../runs/too-large.ts";
import { checkedTurn } from "../schemas/schema-checks.ts";
import { isSerializing, serialize } from "../shared/serialize.ts";
import type { Plan } from "../workflows/decide/plan.ts";
import { type Attempt, AttemptEnded, allSideWrites, asJson, type Note, thrown } from "./node-call.ts";
import type { NodeOutcome, SideWrites } from "./node-type.ts";
import { RunHold } from "./run-hold.ts";
import { roomOf } from "./run-room.ts";
import { counts, type Finished, type Launch, type Noted, type Turn, turnSteps } from "./turn.ts";
import { LargeTurn } from "./turn-base.ts";

/** How long to wait before asking a database again that could not answer. */
const RETRY_MS = 250;

/**
 * A run under the lease of one worker: takes turns, commits them, executes effect nodes in between, and releases the run when there is nothing
 * to do now. Every write is fenced by version and lease, so a worker that lost the run can neither overwrite nor duplicate anything.
 */
export class LeasedRun {
  readonly runId: string;
  readonly startedAtMs: number;
  readonly #host: Host;
  readonly #workerId: string;
  #run: Run;
  #stale = false;
  /** Whether the last write conflicted with another one, of this run or its family. */
  #contended = false;
  /** Set where the last turn started more children than there is room for. */
  #room: ChildRoom | undefined;
  #stopped = false;
  /** Whether the run is being released, or was. */
  #leaving = false;
  /** Whether another execution has the run. */
  #superseded = false;
  readonly #attempts = new Map<string, Attempt>();
  #finished: Finished[] = [];
  #notes: Note[] = [];
  #wake: () => void = () => {};
  readonly #hold: RunHold;

  /** `largeTurn`: the release of the right to take the turn of a large run, where the run was claimed with it. */
  constructor(host: Host, workerId: string, run: Run, largeTurn?: () => void) {
    this.#hold = new RunHold(roomOf(host), largeTurn);
    this.#host = host;
    this.#workerId = workerId;
    this.#run = run;
    this.runId = run.runId;
    this.startedAtMs = host.nowMs();
  }

  /** The run was changed elsewhere and has to be read again. */
  poke(): void {
    this.#stale = true;
    this.#wake();
  }

  /** Stops as soon as possible, without further writes: the lease is lost or the worker is stopping. */
  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  /** Whether this execution continues for now. */
  get goesOn(): boolean {
    return !this.#leaving && !this.#stopped;
  }

  /** The same worker has claimed the run anew: this execution writes and releases nothing more. */
  supersede(): void {
    this.#superseded = true;
    this.stop();
  }

  /**
   * Resolves when the run is released. Database errors that may pass are waited out, so that an executing node is not abandoned because of
   * them; other errors are thrown, and the lease runs out.
   */
  async go(): Promise<void> {
    try {
      while (!this.#stopped) {
        try {
          if (this.#stale) await this.#reload();
          if (await this.#turn()) return;
          this.#hold.endLargeTurn();
          await this.#somethingToDo();
        } catch (error) {
          if (error instanceof LargeTurn) {
            await this.#hold.beginLargeTurn();
            continue;
          }
          if (!(error instanceof AppError && error.mayRetry)) throw error;
          this.#stale = true;
          await pause(RETRY_MS);
        }
      }
      if (!this.#superseded) await this.#release();
    } finally {
      this.#leaving = true;
      this.#hold.release();
      for (const attempt of this.#attempts.values()) attempt.abort.abort();
      this.#refuseNotes(() => true);
    }
  }

  /** Takes one turn; true when the run was released. The plan is held for the turn only: nodes execute for long, and plans are large. */
  async #turn(): Promise<boolean> {
    const plan = await this.#host.plans.byHash(this.#run.workflowHash);
    const before = this.#run;
    const finished = [...this.#finished];
    this.#refuseNotes((note) => !counts(before, note));
    const notes = [...this.#notes];
    let turn = await (isReplay(before)
      ? replayTurn(this.#host, plan, before, !this.#hold.mayBeLarge)
      : this.#takeTurn(plan, finished, notes));
    let letGo = turn.launches.length === 0 && !this.#stillExecuting(turn.run);
    if (!letGo && !this.#hold.keep(turn.size)) {
      if (this.#attempts.size === 0) {
        // The turn is dropped, and taken again when there is room to keep the run while its nodes execute.
        await this.#hold.waitFor(turn.size);
        this.#stale = true;
        return false;
      }
      turn = tooLarge(this.#host, before, "The run grew while its nodes were executing");
      letGo = true;
    }
    if (turn.events.length === 0 && letGo) this.#requireWaiting(turn.run);
    const sideWrites = allSideWrites(notes);
    if (turn.events.length > 0 || letGo || Object.keys(sideWrites).length > 0) {
      this.#leaving = letGo;
      const written = await this.#write(before, turn, letGo, sideWrites).finally(() => {
        this.#leaving = false;
      });
      if (written === "side-write-refused") {
        // The refusal does not name the note, so all are refused; the run continues without them.
        this.#refuseNotes((note) => notes.includes(note));
        return false;
      }
      if (written === "stale") {
        // The run was changed elsewhere. Finished attempts are kept: the next turn settles them against the present run.
        this.#stale = true;
        return false;
      }
      this.#leaving = letGo;
      if (written === "lost") return true;
    }
    this.#finished = this.#finished.slice(finished.length);
    this.#notes = this.#notes.filter((note) => !notes.includes(note));
    for (const { written } of notes) written();
    this.#run = turn.run;
    this.#dropOverridden();
    if (!this.#superseded) for (const launch of turn.launches) this.#launch(launch);
    const waits = isReplay(turn.run) ? [] : externalWaits(turn.events);
    if (waits.length > 0) await offerHeld(this.#host, turn.run, waits);
    return letGo;
  }

  async #takeTurn(plan: Plan, finished: readonly Finished[], notes: readonly Noted[]): Promise<Turn> {
    const run = this.#run;
    if (run.status === "cancelling") await endChildren(this.#host, run);
    const executing = new Map([...this.#attempts].map(([nodeId, { attempt }]) => [nodeId, attempt]));
    const deciding = finished.map(({ outcome }) => outcome);
    const childPlans = await childPlansOf(this.#host, run, plan, deciding);
    const bounds = { smallOnly: !this.#hold.mayBeLarge, ...(this.#room === undefined ? {} : { room: this.#room }) };
    return checkedTurn(() => turnSteps(this.#host, plan, run, finished, executing, childPlans, notes, bounds));
  }

  /** Throws for a run that is due with nothing to do: it would be claimed again at once, for ever. */
  #requireWaiting(run: Run): void {
    const dueAtMs = wakeAtMs(run);
    if (dueAtMs !== undefined && dueAtMs <= this.#host.nowMs()) {
      throw new Error(`run ${this.runId} is due and there is nothing to do`);
    }
  }

  #stillExecuting(run: Run): boolean {
    return Object.values(run.nodes).some((node) => node.status === "executing");
  }

  async #write(
    before: Run,
    { events, run, children }: Pick<Turn, "events" | "run" | "children">,
    letGo: boolean,
    sideWrites: SideWrites = {},
  ): Promise<"done" | "stale" | "lost" | "side-write-refused"> {
    const own: RunWrite = {
      runId: this.runId,
      expectedVersion: before.version,
      events,
      run,
      heldBy: this.#workerId,
      ...(letGo ? { lease: "release" as const } : {}),
    };
    const { store } = this.#host;
    const limits = children.length === 0 ? {} : creationLimits(this.#host);
    const write = () =>
      withFamily(this.#host, async (reads) => {
        const family = await familyWrites(this.#host, reads, before, run, children);
        return store.commit({ tenant: run.owner.tenant, runs: [own, ...family], ...limits, ...sideWrites });
      });
    const committed = await (this.#contended || isSerializing(store, run) ? serialize(store, run, write) : write());
    this.#contended = !committed.ok && committed.refusal.type === "version";
    this.#room = committed.ok ? undefined : childRoom(committed.refusal);
    if (committed.ok) return "done";
    // The turn is taken again with the remaining room: nodes that find none fail.
    if (this.#room !== undefined) return "stale";
    if (committed.refusal.type === "document") return "side-write-refused";
    return this.#contended ? "stale" : "lost";
  }

  async #reload(): Promise<void> {
    this.#stale = false;
    const run = await this.#host.store.readRun({ tenant: this.#run.owner.tenant }, this.runId);
    if (!run) throw new AppError("not_found", { what: "run", runId: this.runId });
    if (isHeadOnly(run)) {
      // Another host let the run grow beyond what this one can load.
      await endHeadOnly(this.#host, run);
      throw new AppError("lease_lost", { runId: this.runId });
    }
    this.#run = run;
    this.#dropOverridden();
  }

  /** Aborts attempts that the log has ended meanwhile; their results no longer count. */
  #dropOverridden(): void {
    for (const [nodeId, held] of this.#attempts) {
      const state = nodeOf(this.#run, nodeId);
      if (state?.status === "executing" && state.attempt === held.attempt && this.#run.status !== "cancelling")
        continue;
      held.abort.abort();
      this.#attempts.delete(nodeId);
    }
    this.#refuseNotes((note) => !this.#attempts.has(note.nodeId));
  }

  #append(nodeId: string, call: Attempt, events: readonly EventDraft[], sideWrites: SideWrites): Promise<void> {
    return new Promise((written, refused) => {
      const note = { nodeId, attempt: call.attempt, events, sideWrites, written, refused };
      this.#notes.push(note);
      if (this.#attempts.get(nodeId) !== call || this.#stopped) this.#refuseNotes((one) => one === note);
      else this.#wake();
    });
  }

  #refuseNotes(which: (note: Note) => boolean): void {
    const refused = this.#notes.filter(which);
    if (refused.length === 0) return;
    this.#notes = this.#notes.filter((note) => !refused.includes(note));
    for (const note of refused) note.refused(new AttemptEnded(note.nodeId));
  }

  #launch({ node, attempt, type, context, pins }: Launch): void {
    const abort = new AbortController();
    const nodeId = node.id;
    // A woken node executes in the same attempt as before its sleep, so only its latest call counts.
    const call: Attempt = { attempt, abort, last: [] };
    const ended = (outcome: NodeOutcome) => {
      if (this.#attempts.get(nodeId) !== call) return;
      this.#attempts.delete(nodeId);
      this.#finished.push({ nodeId, attempt, outcome, pins, events: call.last });
      this.#wake();
    };
    this.#attempts.set(nodeId, call);
    const append = (events: readonly EventDraft[], more: SideWrites = {}) => this.#append(nodeId, call, events, more);
    const atEnd = (events: readonly EventDraft[]) => void call.last.push(...events);
    const latest = () => this.#run;
    const execute = async () => asJson(await type.execute({ ...context, signal: abort.signal, append, atEnd, latest }));
    void execute().then(ended, (error: unknown) => {
      if (error instanceof AppError && error.code === "unavailable") void this.#forget(nodeId, call);
      else ended(thrown(error));
    });
  }

  /** Drops an attempt that needed the database while it was away: as after a crash, the next turn begins a new attempt. */
  async #forget(nodeId: string, call: Attempt): Promise<void> {
    await pause(RETRY_MS);
    if (this.#attempts.get(nodeId) !== call) return;
    this.#attempts.delete(nodeId);
    this.#refuseNotes((note) => note.nodeId === nodeId);
    this.poke();
  }

  /** Waits for a result, a poke, a stop, or the next timer of the run, whichever is first. */
  async #somethingToDo(): Promise<void> {
    const hasResult = this.#finished.length > 0 || this.#notes.length > 0;
    if (hasResult || this.#stale || this.#stopped || this.#attempts.size === 0) return;
    const due = this.#nextDueMs();
    await new Promise<void>((resolve) => {
      const timer = due === undefined ? undefined : setTimeout(resolve, Math.max(0, due - this.#host.nowMs()));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }

  #nextDueMs(): number | undefined {
    const times = Object.values(this.#run.nodes).flatMap(({ dueAtMs }) => (dueAtMs === undefined ? [] : [dueAtMs]));
    const deadline = deadlineMs(this.#run);
    if (deadline !== undefined) times.push(deadline);
    // Longer timers overflow.
    return times.length === 0 ? undefined : Math.min(...times, this.#host.nowMs() + 86_400_000);
  }

  /** Returns an unfinished run to the queue before its lease ends. */
  async #release(): Promise<void> {
    for (let attempt = 0; attempt < RELEASES; attempt++) {
      if ((await this.#write(this.#run, { events: [], run: this.#run, children: [] }, true)) !== "stale") return;
      await this.#reload();
    }
  }
}

const RELEASES = 5;
