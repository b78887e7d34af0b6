import type { ClaimedDelivery } from "../../store/gates.ts";
import { type AttemptSettings, attemptsOf, type DeliveryHost } from "./attempts.ts";
import { Lane, laneOf } from "./lane.ts";

export interface DeliverySettings extends AttemptSettings {
  /** Longer than a few attempts take one after the other. */
  readonly leaseMs: number;
  /** How often the outbox is looked at even when nobody says that there is something in it. */
  readonly sweepMs: number;
  /** How many deliveries are held at once. */
  readonly inHandMax: number;
  onError(error: unknown): void;
}

export interface DeliveryStats {
  readonly inHand: number;
  readonly delivered: number;
  readonly failed: number;
  readonly dead: number;
}

export interface Deliveries {
  stats(): DeliveryStats;
  /** Takes nothing new, gives what is under way `graceMs` to end, hands the rest back. */
  stop(graceMs: number): Promise<void>;
}

const CLAIM_AT_ONCE = 24;

/**
 * Sends what the outbox holds, at least once each. Any number of processes may do so: a delivery is leased by the one
 * that sends it. Polling is the truth; notifications only make it fast.
 */
export function startDeliveries(host: DeliveryHost, settings: DeliverySettings): Deliveries {
  const { store, nowMs } = host;
  const { owner, onError } = settings;
  const attempts = attemptsOf(host, settings);
  const lanes = new Map<string, Lane>();
  const underWay = new Map<Promise<void>, AbortController>();
  let inHand = 0;
  let stopping = false;
  let looking = false;
  let lookAgain = false;
  /** Something may be due that there was no room for. */
  let wanting = false;
  let timer: NodeJS.Timeout | undefined;

  const run = (work: (signal: AbortSignal) => Promise<void>, after = () => {}): void => {
    const cut = new AbortController();
    // Trouble with the database: the lease runs out, and then it is tried again.
    const end: Promise<void> = work(cut.signal)
      .catch(onError)
      .then(() => {
        underWay.delete(end);
        inHand -= 1;
        after();
      });
    underWay.set(end, cut);
  };

  const pump = (key: string, lane: Lane): void => {
    if (stopping || lane.isShut(nowMs())) {
      const { disabledAtMs, circuitUntilMs = 0 } = lane.health;
      const dueAtMs = stopping ? nowMs() : Math.max(nowMs(), circuitUntilMs);
      for (const held of lane.waiting.splice(0)) {
        run(() => (disabledAtMs === undefined ? attempts.handBack(held, dueAtMs) : attempts.bury(held)));
      }
    }
    for (let held = lane.next(); held !== undefined; held = lane.next()) {
      const one = held;
      lane.inFlight += 1;
      run(
        (signal) => attempts.make(one, lane, signal),
        () => {
          lane.inFlight -= 1;
          pump(key, lane);
          if (wanting) look();
        },
      );
    }
    if (lane.isEmpty) lanes.delete(key);
  };

  const take = (delivery: ClaimedDelivery, leaseUntilMs: number): void => {
    const key = laneOf(delivery);
    const lane = lanes.get(key) ?? new Lane(delivery.webhook);
    const held = { delivery, leaseUntilMs };
    inHand += 1;
    // A claim can leave out webhooks, but not callbacks to one place among the others.
    if (lane.isFull && delivery.webhookId === undefined) {
      run(() => attempts.handBack(held, leaseUntilMs));
      return;
    }
    lanes.set(key, lane);
    lane.waiting.push(held);
    pump(key, lane);
  };

  const look = (): void => {
    if (stopping) return;
    lookAgain = true;
    if (looking) return;
    looking = true;
    void drain().finally(() => {
      looking = false;
      if (lookAgain) look();
    });
  };

  const drain = async (): Promise<void> => {
    let sleepMs = settings.sweepMs;
    try {
      while (lookAgain && !stopping) {
        lookAgain = false;
        wanting = false;
        const atMs = nowMs();
        const dueAtMs = await store.nextDeliveryAtMs(atMs);
        if (dueAtMs === undefined) break;
        if (dueAtMs > atMs) {
          sleepMs = Math.min(sleepMs, dueAtMs - atMs);
          break;
        }
        const limit = Math.min(settings.inHandMax - inHand, CLAIM_AT_ONCE);
        const except = [...lanes].filter(([, lane]) => lane.isFull).map(([key]) => key);
        wanting = limit <= 0 || except.length > 0;
        if (limit <= 0) break;
        const untilMs = atMs + settings.leaseMs;
        const claimed = await store.claimDeliveries({ owner, nowMs: atMs, untilMs, limit, except });
        for (const delivery of claimed) take(delivery, untilMs);
        if (claimed.length > 0) lookAgain = true;
      }
    } catch (error) {
      lookAgain = false;
      onError(error);
    }
    clearTimeout(timer);
    if (!stopping) timer = setTimeout(look, Math.max(1, sleepMs));
  };

  const unsubscribe = store.onChange((change) => {
    // An enabled webhook makes what waited for it due.
    if (change.deliveries || change.webhooks) look();
  });
  look();

  return {
    stats: () => ({ inHand, ...attempts.counts }),
    async stop(graceMs) {
      stopping = true;
      unsubscribe();
      clearTimeout(timer);
      for (const [key, lane] of lanes) pump(key, lane);
      const grace = setTimeout(() => {
        for (const cut of underWay.values()) cut.abort();
      }, graceMs);
      while (underWay.size > 0 || looking) {
        await Promise.race([...underWay.keys(), new Promise((resolve) => setTimeout(resolve, 10))]);
      }
      clearTimeout(grace);
    },
  };
}
