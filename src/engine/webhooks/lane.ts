import type { ClaimedDelivery, WebhookRecord } from "../../store/port/gates.ts";
import { type Health, healthOf } from "./retry-policy.ts";

/** A claimed delivery and until when it is ours. */
export interface Held {
  readonly delivery: ClaimedDelivery;
  readonly leaseUntilMs: number;
}

/** How many deliveries may be under way to one receiver at once. */
const AT_ONCE = 8;

/** With this many in hand for one receiver, no more are claimed for it: others must not wait behind a slow one. */
export const LANE_FULL = 24;

/**
 * What one process holds for one receiver. While the receiver fails, one delivery at a time tries it; so after a
 * circuit was open a single one is sent ahead of the rest. What is known of its health counts as long as anything is in
 * hand; then it is read anew, because other processes deliver too.
 */
export class Lane {
  readonly waiting: Held[] = [];
  inFlight = 0;
  health: Health;

  /** Callbacks have no webhook, and nothing is known of how they fare. */
  constructor(webhook: WebhookRecord | undefined) {
    this.health = webhook === undefined ? { failures: 0 } : healthOf(webhook);
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.inFlight === 0;
  }

  get isFull(): boolean {
    return this.waiting.length + this.inFlight >= LANE_FULL;
  }

  /** The next to be sent, unless as many are under way as may be. */
  next(): Held | undefined {
    return this.inFlight < (this.health.failures > 0 ? 1 : AT_ONCE) ? this.waiting.shift() : undefined;
  }

  isShut(nowMs: number): boolean {
    const { disabledAtMs, circuitUntilMs = 0 } = this.health;
    return disabledAtMs !== undefined || circuitUntilMs > nowMs;
  }
}

/** Callbacks have no webhook; those to one place share a lane. */
export function laneOf({ webhookId, url }: ClaimedDelivery): string {
  if (webhookId !== undefined) return webhookId;
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : "";
}
