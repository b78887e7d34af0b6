import type { ClaimedDelivery, WebhookRecord } from "../../store/port/gates.ts";
import { type AttemptSettings, attemptsOf, type DeliveryHost } from "./attempts.ts";
import { type Health, healthOf } from "./retry-policy.ts";
import { isSpread } from "./spread.ts";

/** A claimed delivery, with the end of its lease. */
export interface Held {
  readonly delivery: ClaimedDelivery;
  readonly leaseUntilMs: number;
}

/** Deliveries that are being sent to one receiver at once. */
const AT_ONCE = 8;

/** Held deliveries of one receiver at which no more are claimed for it: others must not wait for a slow receiver. */
const LANE_FULL = 24;

/**
 * The deliveries that one process holds for one receiver. While the receiver fails they are sent one at a time, so after an open circuit a single one
 * is sent first. The health of the receiver is read again for a new lane, because other processes deliver too.
 */
export class Lane {
  readonly waiting: Held[] = [];
  inFlight = 0;
  health: Health;

  /** Callbacks have no webhook and no known health. */
  constructor(webhook: WebhookRecord | undefined) {
    this.health = webhook === undefined ? { failures: 0 } : healthOf(webhook);
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.inFlight === 0;
  }

  get isFull(): boolean {
    return this.waiting.length + this.inFlight >= LANE_FULL;
  }

  /** The next delivery to be sent, unless enough are being sent. */
  next(): Held | undefined {
    return this.inFlight < (this.health.failures > 0 ? 1 : AT_ONCE) ? this.waiting.shift() : undefined;
  }

  isShut(nowMs: number): boolean {
    const { disabledAtMs, circuitUntilMs = 0 } = this.health;
    return disabledAtMs !== undefined || circuitUntilMs > nowMs;
  }
}

/** The lane of a delivery: that of its webhook or, for callbacks, of their origin. */
function laneOf({ webhookId, url }: ClaimedDelivery): string {
  if (webhookId !== undefined) return webhookId;
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : "";
}

export interface DeliverySettings extends AttemptSettings {
  /** Longer than a few attempts take one after the other. */
  readonly leaseMs: number;
  /** How often the outbox is read without a notification. */
  readonly sweepMs: number;
  /** Deliveries that are held at once. */
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
  /** Takes nothing new, lets deliveries that are being sent end within `graceMs`, releases the others. */
  stop(graceMs: number): Promise<void>;
}

const CLAIM_AT_ONCE = 24;

/** The part of the held deliveries that one tenant may have: other tenants must not wait for slow receivers. */
const TENANT_PART = 3 / 4;

/**
 * Sends the deliveries of the outbox, each at least once. Any number of processes may do so: a delivery is leased by the process that sends it. The
 * outbox is polled; notifications only make it faster.
 */
export function startDeliveries(host: DeliveryHost, settings: DeliverySettings): Deliveries {
  const { store, nowMs } = host;
  const { owner, onError } = settings;
  const attempts = attemptsOf(host, settings);
  const lanes = new Map<string, Lane>();
  const underWay = new Map<Promise<void>, AbortController>();
  // More than one receiver may have, so that a tenant does not wait for one of its own receivers.
  const tenantMax = Math.max(LANE_FULL + 1, Math.floor(settings.inHandMax * TENANT_PART));
  const inHandOf = new Map<string, number>();
  /** Webhooks of tenants that hold as many deliveries as they may. */
  const heldBack = new Map<string, Set<string>>();
  let inHand = 0;
  let stopping = false;
  let looking = false;
  let lookAgain = false;
  /** Whether deliveries may be due that there was no room for. */
  let wanting = false;
  let timer: NodeJS.Timeout | undefined;

  const run = (work: (signal: AbortSignal) => Promise<void>, after = () => {}): void => {
    const cut = new AbortController();
    // After a database error the lease runs out, and the delivery is tried again.
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
    // Webhooks are left out of further claims. Callbacks cannot be, and are claimed again after others.
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
    // A claim can leave out webhooks, but not the callbacks of one origin.
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
    // The waiting deliveries of an enabled webhook are due.
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
