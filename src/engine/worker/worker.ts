import { AppError } from "../../protocol/errors.ts";
import { ENGINE_VERSION, type EventDraft } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Change, Lease } from "../../store/port/store.ts";
import { changeRun, endHeadOnly } from "../families/family.ts";
import type { Host, LocalWorker } from "../host.ts";
import { failRun } from "../runs/decide/end-run.ts";
import { FairClaims, Pace } from "./fair-claims.ts";
import { LeasedRun } from "./leased-run.ts";
import { roomOf } from "./run-room.ts";

export interface WorkerSettings {
  readonly workerId: string;
  readonly leaseMs: number;
  readonly renewMs: number;
  /** How often the queue is read without a notification. */
  readonly sweepMs: number;
  /** Runs held at once. */
  readonly concurrency: number;
  /** For a process that answers requests too: a backlog is executed in small steps, with requests in between. */
  readonly paced?: boolean;
  onError(error: unknown): void;
}

interface WorkerStats {
  readonly inHand: number;
  readonly claimed: number;
  readonly handedOver: number;
  readonly leasesLost: number;
}

export interface Worker extends LocalWorker {
  stats(): WorkerStats;
  /** Takes nothing new, lets the held runs end within `graceMs`, returns the others to the queue. */
  stop(graceMs: number): Promise<void>;
}

const CLAIM_AT_ONCE = 64;

/** A step of a paced worker while more is due than one claim takes: its runs, and the time for them to end. */
const STEP_RUNS = 8;
const STEP_MS = 25;

/** The part of a worker that runs of one tenant may hold: slow runs of one tenant must not block all others. */
const TENANT_PART = 3 / 4;
/** Runs that wait for a large turn are small while they wait, and take no places from others; up to so many times the concurrency. */
const WAITING_PER_PLACE = 4;

/** How long large runs wait at most while small runs are due. */
const LARGE_EVERY_MS = 1000;

/** Runs that cannot be loaded and are ended in one step. */
const UNLOADABLE_AT_ONCE = 8;

/** Attempts to execute a run, a lease's length apart, before it is recorded as failed. */
const ATTEMPTS_MAX = 5;

/** Claims due runs and executes them. The worker polls; notifications only make it faster. */
export function startWorker(host: Host, settings: WorkerSettings): Worker {
  const { workerId, concurrency, onError } = settings;
  const inHand = new Map<string, LeasedRun>();
  /** Failed attempts by run; in memory, because a restart may solve the problem. */
  const stuck = new Map<string, number>();
  const ends = new Set<Promise<void>>();
  let reserved = 0;
  let stopping = false;
  let graceOver = false;
  let looking = false;
  let lookAgain = false;
  /** Whether runs were left in the queue because the worker had no place. */
  let full = false;
  /** Whether a large run may have been left in the queue because of another one's large turn. */
  let largeWait = false;
  let timer: NodeJS.Timeout | undefined;
  let claimed = 0;
  let handedOver = 0;
  let leasesLost = 0;

  const memory = roomOf(host);
  const pace = new Pace();
  const claims = new FairClaims(host.store);
  const largeClaims = new FairClaims(host.store);
  let largeLookMs = Number.NEGATIVE_INFINITY;
  const tenantMax = Math.max(1, Math.ceil(concurrency * TENANT_PART));
  /** Runs in hand or reserved, by tenant. */
  const held = new Map<string, number>();

  const inSteps = () => settings.paced === true && claims.isCrowded;
  const room = () => {
    const waiting = Math.min(memory.largeTurnsWaiting, inHand.size, concurrency * WAITING_PER_PLACE);
    return concurrency - (inHand.size - waiting) - reserved;
  };
  const leftFor = (tenant: string) => tenantMax - (held.get(tenant) ?? 0);
  const hold = (tenant: string, more: 1 | -1): void => {
    const now = (held.get(tenant) ?? 0) + more;
    if (now > 0) held.set(tenant, now);
    else held.delete(tenant);
  };

  const claimAt = (nowMs: number) => ({
    owner: workerId,
    nowMs,
    untilMs: nowMs + settings.leaseMs,
    engineVersion: ENGINE_VERSION,
  });

  /** A claim that fits into the worker and into the part of it that the fullest tenant has left. */
  const claimNext = async (nowMs: number): Promise<Run[]> => {
    const crowded = new Set([...held.keys()].filter((tenant) => leftFor(tenant) <= 0));
    const rooms = [...held.keys()].filter((tenant) => !crowded.has(tenant)).map(leftFor);
    const limit = Math.min(room(), inSteps() ? STEP_RUNS : CLAIM_AT_ONCE, tenantMax, ...rooms);
    full = limit <= 0 || crowded.size > 0;
    if (limit <= 0) return [];
    return claims.claim({ ...claimAt(nowMs), limit, stateBytes: { upTo: memory.smallBytes } }, crowded);
  };

  /** The lease is not released: its end is the pause before the next attempt. */
  const failedToExecute = async (run: Run, error: unknown): Promise<void> => {
    onError(error);
    if (error instanceof AppError && error.mayRetry) return;
    const attempts = (stuck.get(run.runId) ?? 0) + 1;
    stuck.set(run.runId, attempts);
    if (attempts < ATTEMPTS_MAX) return;
    stuck.delete(run.runId);
    await deadLetter(host, workerId, run, attempts);
  };

  const start = (run: Run, largeTurn?: () => void): Promise<void> => {
    const execution = new LeasedRun(host, workerId, run, largeTurn);
    const { tenant } = run.owner;
    inHand.set(run.runId, execution);
    hold(tenant, 1);
    if (graceOver) execution.stop();
    const end: Promise<void> = execution
      .go()
      .then(
        () => void stuck.delete(run.runId),
        (error: unknown) => failedToExecute(run, error),
      )
      .catch(onError)
      .then(() => {
        // The run may be held again already: it was released, came due, and was claimed anew.
        if (inHand.get(run.runId) === execution) inHand.delete(run.runId);
        hold(tenant, -1);
        ends.delete(end);
        if (full || largeWait) look();
      });
    ends.add(end);
    return end;
  };

  const claimedRun = (run: Run, largeTurn?: () => void): Promise<void> | undefined => {
    const held = inHand.get(run.runId);
    if (held?.goesOn) {
      // The process stood still until its own lease was over; the claim is by the same worker.
      largeTurn?.();
      held.poke();
      return undefined;
    }
    held?.supersede();
    return start(run, largeTurn);
  };

  /** Waits until the runs of a step end; runs with effects take longer than a step. */
  const endOfStep = async (begun: readonly (Promise<void> | undefined)[]): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STEP_MS);
    });
    await Promise.race([Promise.all(begun), late]);
    clearTimeout(timer);
  };

  /** Claims one large run if no other large turn is under way: it is not read before there is room for it. */
  const claimLarge = async (nowMs: number): Promise<number> => {
    const largeTurn = memory.largeTurnNow();
    largeWait = largeTurn === undefined;
    if (largeTurn === undefined) return 0;
    largeLookMs = nowMs;
    try {
      const claim = {
        ...claimAt(nowMs),
        limit: 1,
        stateBytes: { above: memory.smallBytes, upTo: memory.maxLoadBytes },
      };
      const [run] = await largeClaims.claim(claim, new Set());
      if (run === undefined) {
        largeTurn();
        return 0;
      }
      claimed += 1;
      void claimedRun(run, largeTurn);
      return 1;
    } catch (error) {
      largeTurn();
      throw error;
    }
  };

  /** Ends runs that cannot be loaded: they would be due for ever. Returns their number. */
  const endUnloadable = async (nowMs: number): Promise<number> => {
    const query = { nowMs, engineVersion: ENGINE_VERSION, aboveBytes: memory.maxLoadBytes, limit: UNLOADABLE_AT_ONCE };
    const found = await host.store.dueBeyond(query);
    for (const { runId, tenant } of found) {
      const head = await host.store.readHead({ tenant }, runId);
      if (head !== undefined && !isTerminal(head.status)) await endHeadOnly(host, head);
    }
    return found.length;
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
        const startedMs = performance.now();
        const nowMs = host.nowMs();
        const dueAtMs = await host.store.nextWakeAtMs(nowMs, ENGINE_VERSION);
        if (dueAtMs === undefined) break;
        if (dueAtMs > nowMs) {
          sleepMs = Math.min(sleepMs, dueAtMs - nowMs);
          break;
        }
        const runs = await claimNext(nowMs);
        claimed += runs.length;
        const begun = runs.map((run) => claimedRun(run));
        if (inSteps()) {
          await endOfStep(begun);
          await pace.rest(new Set(runs.map(({ owner }) => owner.tenant)), performance.now() - startedMs);
        }
        const isLargeDue = room() > 0 && (runs.length === 0 || nowMs - largeLookMs > LARGE_EVERY_MS);
        const large = isLargeDue ? await claimLarge(nowMs) : 0;
        const ended = isLargeDue && large === 0 ? await endUnloadable(nowMs) : 0;
        if (runs.length + large + ended > 0) lookAgain = true;
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
        // The notification of a change may have been lost.
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
    reserve(tenant): Lease | undefined {
      if (stopping || room() <= 0 || leftFor(tenant) <= 0) return undefined;
      reserved += 1;
      hold(tenant, 1);
      return { owner: workerId, untilMs: host.nowMs() + settings.leaseMs };
    },
    take(run) {
      reserved -= 1;
      hold(run.owner.tenant, -1);
      handedOver += 1;
      void start(run);
    },
    giveBack(tenant) {
      reserved -= 1;
      hold(tenant, -1);
    },
    noteRequest: (tenant) => pace.noteRequest(tenant),
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

/**
 * Ends a run that this host cannot execute, without its plan and without a turn, which may be broken. The error itself is in the host's log:
 * it is about the host and not for all readers of the run.
 */
async function deadLetter(host: Host, workerId: string, run: Run, attempts: number): Promise<void> {
  const { runId } = run;
  const message = `This host could not execute the run in ${attempts} attempts; its log says why.`;
  const dead: EventDraft = { type: "run.dead_lettered", payload: { runId, reason: "engine_error", attempts } };
  const end = (now: Run): EventDraft[] =>
    isTerminal(now.status) ? [] : [dead, ...failRun(now, { code: "run_dead_lettered", message })];
  await changeRun(host, run, end, { heldBy: workerId, lease: "release" });
}
