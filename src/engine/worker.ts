import { AppError } from "../protocol/errors.ts";
import { ENGINE_VERSION } from "../protocol/events.ts";
import type { Run } from "../protocol/run.ts";
import type { Change, Claim, Lease } from "../store/store.ts";
import { deadLetter } from "./dead-letter.ts";
import type { Hands, Host } from "./host.ts";
import { RunExecution } from "./run-execution.ts";
import { roomOf } from "./run-room.ts";

export interface WorkerSettings {
  readonly workerId: string;
  readonly leaseMs: number;
  readonly renewMs: number;
  /** How often the queue is looked at even when nobody says that there is work. */
  readonly sweepMs: number;
  /** Runs in hand at once. */
  readonly concurrency: number;
  onError(error: unknown): void;
}

export interface WorkerStats {
  readonly inHand: number;
  readonly claimed: number;
  readonly handedOver: number;
  readonly leasesLost: number;
}

export interface Worker extends Hands {
  stats(): WorkerStats;
  /** Takes nothing new, gives what is in hand `graceMs` to end, hands the rest back to the queue. */
  stop(graceMs: number): Promise<void>;
}

const CLAIM_AT_ONCE = 64;

/** Runs that wait for a large turn are small as long as they wait, and take no place from others; up to so many times the concurrency. */
const WAITING_PER_PLACE = 4;

/** How long large runs wait at most while there is always a small one. */
const LARGE_EVERY_MS = 1000;

/** How often a run is tried that cannot be executed, a lease's length apart, before it is recorded as failed. */
const ATTEMPTS_MAX = 5;

/** Claims due runs and executes them. Polling is the truth; notifications only make it fast. */
export function startWorker(host: Host, settings: WorkerSettings): Worker {
  const { workerId, concurrency, onError } = settings;
  const inHand = new Map<string, RunExecution>();
  /** Runs that could not be executed, and how often; in memory, because a restart may be the cure. */
  const stuck = new Map<string, number>();
  const ends = new Set<Promise<void>>();
  let reserved = 0;
  let stopping = false;
  let graceOver = false;
  let looking = false;
  let lookAgain = false;
  /** Work was left in the queue because every hand was taken. */
  let full = false;
  /** A large run may have been left in the queue because another took its turn. */
  let largeWait = false;
  let timer: NodeJS.Timeout | undefined;
  let claimed = 0;
  let handedOver = 0;
  let leasesLost = 0;

  const memory = roomOf(host);
  let largeLookMs = Number.NEGATIVE_INFINITY;

  const room = () => {
    const waiting = Math.min(memory.largeTurnsWaiting, inHand.size, concurrency * WAITING_PER_PLACE);
    return concurrency - (inHand.size - waiting) - reserved;
  };

  /** The lease is left to run out: that is the pause before the next attempt. */
  const failedToExecute = async (run: Run, error: unknown): Promise<void> => {
    onError(error);
    if (error instanceof AppError && error.mayRetry) return;
    const attempts = (stuck.get(run.runId) ?? 0) + 1;
    stuck.set(run.runId, attempts);
    if (attempts < ATTEMPTS_MAX) return;
    stuck.delete(run.runId);
    await deadLetter(host, workerId, run, attempts);
  };

  const start = (run: Run, largeTurn?: () => void): void => {
    const execution = new RunExecution(host, workerId, run, largeTurn);
    inHand.set(run.runId, execution);
    if (graceOver) execution.stop();
    const end: Promise<void> = execution
      .go()
      .then(
        () => void stuck.delete(run.runId),
        (error: unknown) => failedToExecute(run, error),
      )
      .catch(onError)
      .then(() => {
        // The run may be in hand again already: it was let go, came due, and was claimed anew.
        if (inHand.get(run.runId) === execution) inHand.delete(run.runId);
        ends.delete(end);
        if (full || largeWait) look();
      });
    ends.add(end);
  };

  const claimedRun = (run: Run, largeTurn?: () => void): void => {
    const held = inHand.get(run.runId);
    if (held?.goesOn) {
      // This process stood still until its own lease was over; the claim has given it back to the same hands.
      largeTurn?.();
      held.poke();
      return;
    }
    held?.supersede();
    start(run, largeTurn);
  };

  /** One large run, if no other takes its turn now: it is not even read before there is room for it. */
  const claimLarge = async (claim: Claim): Promise<number> => {
    const largeTurn = memory.largeTurnNow();
    largeWait = largeTurn === undefined;
    if (largeTurn === undefined) return 0;
    largeLookMs = claim.nowMs;
    try {
      const [run] = await host.store.claimRuns({ ...claim, limit: 1, stateBytes: { above: memory.smallBytes } });
      if (run === undefined) {
        largeTurn();
        return 0;
      }
      claimed += 1;
      claimedRun(run, largeTurn);
      return 1;
    } catch (error) {
      largeTurn();
      throw error;
    }
  };

  const look = (): void => {
    if (stopping) return;
    lookAgain = true;
    if (looking) return;
    looking = true;
    void drainQueue().finally(() => {
      looking = false;
      if (lookAgain) look();
    });
  };

  const drainQueue = async (): Promise<void> => {
    let sleepMs = settings.sweepMs;
    try {
      while (lookAgain && !stopping) {
        lookAgain = false;
        const nowMs = host.nowMs();
        const dueAtMs = await host.store.nextWakeAtMs(nowMs, ENGINE_VERSION);
        if (dueAtMs === undefined) break;
        if (dueAtMs > nowMs) {
          sleepMs = Math.min(sleepMs, dueAtMs - nowMs);
          break;
        }
        const limit = Math.min(room(), CLAIM_AT_ONCE);
        full = limit <= 0;
        if (full) break;
        const claim = {
          owner: workerId,
          nowMs,
          untilMs: nowMs + settings.leaseMs,
          limit,
          engineVersion: ENGINE_VERSION,
        };
        const runs = await host.store.claimRuns({ ...claim, stateBytes: { upTo: memory.smallBytes } });
        claimed += runs.length;
        for (const run of runs) claimedRun(run);
        const due = runs.length === 0 || nowMs - largeLookMs > LARGE_EVERY_MS;
        const large = due ? await claimLarge(claim) : 0;
        if (runs.length + large > 0) lookAgain = true;
      }
    } catch (error) {
      lookAgain = false;
      onError(error);
    }
    clearTimeout(timer);
    timer = setTimeout(look, Math.max(1, sleepMs));
  };

  const renew = async (): Promise<void> => {
    const nowMs = host.nowMs();
    // Most runs end well inside their first lease; only the others are worth a write.
    const held = [...inHand.values()].filter((one) => nowMs - one.startedAtMs >= settings.renewMs / 2);
    if (held.length === 0) return;
    const ids = held.map((one) => one.runId);
    const still = new Set(await host.store.renewLeases(workerId, ids, nowMs + settings.leaseMs));
    for (const one of held) {
      if (inHand.get(one.runId) !== one) continue;
      if (still.has(one.runId)) {
        // Should the word of a change have been lost on its way here, this is when it is found.
        one.poke();
        continue;
      }
      leasesLost += 1;
      one.stop();
    }
  };

  const unsubscribe = host.store.onChange((change: Change) => {
    if (change.runIds === "all") for (const one of inHand.values()) one.poke();
    else for (const runId of change.runIds) inHand.get(runId)?.poke();
    if (change.work) look();
  });
  const renewal = setInterval(() => void renew().catch(onError), settings.renewMs);
  look();

  return {
    reserve(): Lease | undefined {
      if (stopping || room() <= 0) return undefined;
      reserved += 1;
      return { owner: workerId, untilMs: host.nowMs() + settings.leaseMs };
    },
    take(run) {
      reserved -= 1;
      handedOver += 1;
      start(run);
    },
    giveBack() {
      reserved -= 1;
    },
    stats: () => ({ inHand: inHand.size, claimed, handedOver, leasesLost }),
    async stop(graceMs) {
      stopping = true;
      unsubscribe();
      clearTimeout(timer);
      const grace = setTimeout(() => {
        graceOver = true;
        for (const one of inHand.values()) one.stop();
      }, graceMs);
      while (ends.size > 0 || reserved > 0 || looking) {
        await Promise.race([...ends, new Promise((resolve) => setTimeout(resolve, 10))]);
      }
      clearTimeout(grace);
      clearInterval(renewal);
    },
  };
}
