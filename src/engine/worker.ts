import { ENGINE_VERSION } from "../protocol/events.ts";
import type { Run } from "../protocol/run.ts";
import type { Change, Lease } from "../store/store.ts";
import type { Hands, Host } from "./host.ts";
import { RunExecution } from "./run-execution.ts";

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

/** Claims due runs and executes them. Polling is the truth; notifications only make it fast. */
export function startWorker(host: Host, settings: WorkerSettings): Worker {
  const { workerId, concurrency, onError } = settings;
  const inHand = new Map<string, RunExecution>();
  const ends = new Set<Promise<void>>();
  let reserved = 0;
  let stopping = false;
  let looking = false;
  let lookAgain = false;
  /** Work was left in the queue because every hand was taken. */
  let full = false;
  let timer: NodeJS.Timeout | undefined;
  let claimed = 0;
  let handedOver = 0;
  let leasesLost = 0;

  const room = () => concurrency - inHand.size - reserved;

  const start = (run: Run): void => {
    const execution = new RunExecution(host, workerId, run);
    inHand.set(run.runId, execution);
    const end: Promise<void> = execution
      .go()
      .catch(onError)
      .then(() => {
        // The run may be in hand again already: it was let go, came due, and was claimed anew.
        if (inHand.get(run.runId) === execution) inHand.delete(run.runId);
        ends.delete(end);
        if (full) look();
      });
    ends.add(end);
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
        const dueAtMs = await host.store.nextWakeAtMs(nowMs);
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
        const runs = await host.store.claimRuns(claim);
        claimed += runs.length;
        for (const run of runs) start(run);
        if (runs.length > 0) lookAgain = true;
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
      if (still.has(one.runId) || inHand.get(one.runId) !== one) continue;
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
