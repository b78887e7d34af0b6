import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import { deadlineMs, wakeAtMs } from "../../protocol/runs/due-times.ts";
import { isReplay } from "../../protocol/runs/forked-from.ts";
import { nodeOf, type Run } from "../../protocol/runs/run.ts";
import type { RunWrite } from "../../store/port/store.ts";
import { endChildren, endHeadOnly, familyWrites, withFamily } from "../families/family.ts";
import { isSerializing, serialize } from "../families/serialize.ts";
import { childPlansOf } from "../families/start-child.ts";
import { externalWaits, offerHeld } from "../gates/held-events.ts";
import type { Host } from "../host.ts";
import { replayTurn } from "../replay/replay-turn.ts";
import { type ChildRoom, childRoom, creationLimits } from "../runs/creation-limits.ts";
import { isHeadOnly, tooLarge } from "../runs/too-large.ts";
import { checkedTurn } from "../schemas/schema-checks.ts";
import type { Plan } from "../workflows/decide/plan.ts";
import { type Attempt, AttemptEnded, besideAll, type Note } from "./attempt-notes.ts";
import { asJson, thrown } from "./node-call.ts";
import type { Beside, NodeOutcome } from "./node-type.ts";
import { RunHold } from "./run-hold.ts";
import { roomOf } from "./run-room.ts";
import { counts, type Finished, type Launch, type Noted, type Turn, turnSteps } from "./turn.ts";
import { LargeTurn } from "./turn-base.ts";

/** How long to wait before asking a database again that could not answer. */
const RETRY_MS = 250;

/**
 * One leased run in the hands of one worker: takes turns, commits them, runs effect nodes in between, and lets go
 * when nothing is left to do now. Every write is fenced by version and lease, so a worker that lost the run can
 * neither overwrite nor duplicate anything.
 */
export class LeasedRun {
  readonly runId: string;
  readonly startedAtMs: number;
  readonly #host: Host;
  readonly #workerId: string;
  #run: Run;
  #stale = false;
  /** The last write met another one, of this run or of its family. */
  #contended = false;
  /** The last turn wanted more children than there is room for. */
  #room: ChildRoom | undefined;
  #stopped = false;
  /** The run is being let go, or was. */
  #leaving = false;
  /** Another execution has the run. */
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

  /** Somebody else changed the run: look again. Cheap when nothing is being waited for. */
  poke(): void {
    this.#stale = true;
    this.#wake();
  }

  /** Stop as soon as possible without writing more: the lease is lost or the worker is going away. */
  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  /** Whether the run stays in these hands for now, as far as they can tell. */
  get goesOn(): boolean {
    return !this.#leaving && !this.#stopped;
  }

  /** The same worker has claimed the run anew: whatever this execution was about, it writes and releases nothing more. */
  supersede(): void {
    this.#superseded = true;
    this.stop();
  }

  /**
   * Resolves when this worker has let go of the run. Trouble with the database is waited out, for a node that is
   * acting on the world must not be given up because of it; anything else is thrown, and the lease runs out.
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

  /** True when the run was let go. The plan is held for the turn only: nodes execute for long, and plans are large. */
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
        // The turn is dropped and taken again when there is room to keep the run while its nodes execute.
        await this.#hold.waitFor(turn.size);
        this.#stale = true;
        return false;
      }
      turn = tooLarge(this.#host, before, "The run grew while its nodes were executing");
      letGo = true;
    }
    if (turn.events.length === 0 && letGo) this.#requireWaiting(turn.run);
    const beside = besideAll(notes);
    if (turn.events.length > 0 || letGo || Object.keys(beside).length > 0) {
      this.#leaving = letGo;
      const written = await this.#write(before, turn, letGo, beside).finally(() => {
        this.#leaving = false;
      });
      if (written === "beside") {
        // Which of them it was is not told; the run itself stands as it was, and goes on without them.
        this.#refuseNotes((note) => notes.includes(note));
        return false;
      }
      if (written === "stale") {
        // Somebody was faster. What finished is kept: the next turn settles it against the run as it is now.
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

  /** A run that is due although there is nothing to do would be claimed again at once, and for ever. */
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
    beside: Beside = {},
  ): Promise<"done" | "stale" | "lost" | "beside"> {
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
        return store.commit({ tenant: run.owner.tenant, runs: [own, ...family], ...limits, ...beside });
      });
    const committed = await (this.#contended || isSerializing(store, run) ? serialize(store, run, write) : write());
    this.#contended = !committed.ok && committed.refusal.type === "version";
    this.#room = committed.ok ? undefined : childRoom(committed.refusal);
    if (committed.ok) return "done";
    // Taken again with the room there is: the nodes that find none fail.
    if (this.#room !== undefined) return "stale";
    if (committed.refusal.type === "document") return "beside";
    return this.#contended ? "stale" : "lost";
  }

  async #reload(): Promise<void> {
    this.#stale = false;
    const run = await this.#host.store.readRun({ tenant: this.#run.owner.tenant }, this.runId);
    if (!run) throw new AppError("not_found", { what: "run", runId: this.runId });
    if (isHeadOnly(run)) {
      // Another host has let it grow beyond what this one can load.
      await endHeadOnly(this.#host, run);
      throw new AppError("lease_lost", { runId: this.runId });
    }
    this.#run = run;
    this.#dropOverridden();
  }

  /** Attempts that the log has ended meanwhile are told to stop; their results no longer count. */
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

  #append(nodeId: string, call: Attempt, events: readonly EventDraft[], beside: Beside): Promise<void> {
    return new Promise((written, refused) => {
      const note = { nodeId, attempt: call.attempt, events, beside, written, refused };
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
    // A sleeper that was woken is at work again in the same attempt, so only the latest call speaks for it.
    const call: Attempt = { attempt, abort, last: [] };
    const ended = (outcome: NodeOutcome) => {
      if (this.#attempts.get(nodeId) !== call) return;
      this.#attempts.delete(nodeId);
      this.#finished.push({ nodeId, attempt, outcome, pins, events: call.last });
      this.#wake();
    };
    this.#attempts.set(nodeId, call);
    const append = (events: readonly EventDraft[], beside: Beside = {}) => this.#append(nodeId, call, events, beside);
    const atEnd = (events: readonly EventDraft[]) => void call.last.push(...events);
    const latest = () => this.#run;
    const execute = async () => asJson(await type.execute({ ...context, signal: abort.signal, append, atEnd, latest }));
    void execute().then(ended, (error: unknown) => {
      if (error instanceof AppError && error.code === "unavailable") void this.#forget(nodeId, call);
      else ended(thrown(error));
    });
  }

  /** The database was away while a node needed it: as after a crash the attempt is lost, and the next turn begins a fresh one. */
  async #forget(nodeId: string, call: Attempt): Promise<void> {
    await pause(RETRY_MS);
    if (this.#attempts.get(nodeId) !== call) return;
    this.#attempts.delete(nodeId);
    this.#refuseNotes((note) => note.nodeId === nodeId);
    this.poke();
  }

  /** Waits for a result, a poke, a stop, or the next timer of the run, whichever is first. */
  async #somethingToDo(): Promise<void> {
    if (
      this.#finished.length > 0 ||
      this.#notes.length > 0 ||
      this.#stale ||
      this.#stopped ||
      this.#attempts.size === 0
    )
      return;
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
    // Timers longer than this overflow; looking again once a day costs nothing.
    return times.length === 0 ? undefined : Math.min(...times, this.#host.nowMs() + 86_400_000);
  }

  /** Hands an unfinished run back to the queue, so that nobody has to wait for the lease to end. */
  async #release(): Promise<void> {
    for (let attempt = 0; attempt < RELEASES; attempt++) {
      if ((await this.#write(this.#run, { events: [], run: this.#run, children: [] }, true)) !== "stale") return;
      await this.#reload();
    }
  }
}

const RELEASES = 5;
