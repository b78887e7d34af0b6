import type { ClaimedDelivery } from "../../store/port/gates.ts";
import { type AttemptSettings, attemptsOf, type DeliveryHost } from "./attempts.ts";
import { type Held, LANE_FULL, Lane, laneOf } from "./lane.ts";
import { isSpread } from "./spread.ts";

export interface DeliverySettings extends AttemptSettings {
  /** Longer than a few attempts take one after the other. */
  readonly leaseMs: number;
  /** How often the outbox is looked at even when nobody says that there is something in it. */
  readonly sweepMs: number;
  /** How many deliveries are held at once. */
  readonly inHandMax: number;
  onError(error: unknown): void;
}

interface DeliveryStats {
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

/** The part of what is held at once that one tenant may have: its receivers may take seconds for each, and others must not wait for them. */
const TENANT_PART = 3 / 4;

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
  // More than one receiver may have: a tenant must not wait for one of its own either.
  const tenantMax = Math.max(LANE_FULL + 1, Math.floor(settings.inHandMax * TENANT_PART));
  const inHandOf = new Map<string, number>();
  /** Webhooks of tenants that have as much in hand as they may. */
  const heldBack = new Map<string, Set<string>>();
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

  const count = (tenant: string, change: 1 | -1): void => {
    inHandOf.set(tenant, (inHandOf.get(tenant) ?? 0) + change);
    if (change === 1) return;
    heldBack.delete(tenant);
    if (inHandOf.get(tenant) === 0) inHandOf.delete(tenant);
  };

  const holdBack = (held: Held): void => {
    const { tenant, webhookId } = held.delivery;
    // Its webhooks are left out of further claims. Callbacks cannot be, and come again when others had their turn.
    if (webhookId !== undefined) heldBack.set(tenant, (heldBack.get(tenant) ?? new Set()).add(webhookId));
    run(() => attempts.handBack(held, webhookId === undefined ? held.leaseUntilMs : nowMs()));
  };

  const pump = (key: string, lane: Lane): void => {
    if (stopping || lane.isShut(nowMs())) {
      const { disabledAtMs, circuitUntilMs = 0 } = lane.health;
      const dueAtMs = stopping ? nowMs() : Math.max(nowMs(), circuitUntilMs);
      for (const held of lane.waiting.splice(0)) {
        run(
          () => (disabledAtMs === undefined ? attempts.handBack(held, dueAtMs) : attempts.bury(held)),
          () => count(held.delivery.tenant, -1),
        );
      }
    }
    for (let held = lane.next(); held !== undefined; held = lane.next()) {
      const one = held;
      lane.inFlight += 1;
      run(
        (signal) => attempts.make(one, lane, signal),
        () => {
          lane.inFlight -= 1;
          count(one.delivery.tenant, -1);
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
    if (isSpread(delivery)) {
      run((signal) => attempts.spread(held, signal));
      return;
    }
    // A claim can leave out webhooks, but not callbacks to one place among the others.
    const isFull = lane.isFull && delivery.webhookId === undefined;
    if (isFull || (inHandOf.get(delivery.tenant) ?? 0) >= tenantMax) {
      holdBack(held);
      return;
    }
    count(delivery.tenant, 1);
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
        const full = [...lanes].filter(([, lane]) => lane.isFull).map(([key]) => key);
        const except = [...full, ...[...heldBack.values()].flatMap((ids) => [...ids])];
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
