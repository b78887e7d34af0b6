import { defined } from "../../protocol/defined.ts";
import type { AttemptOutcome, ClaimedDelivery } from "../../store/port/gates.ts";
import type { Host } from "../host.ts";
import type { OutboundAnswer } from "../outbound/call-out.ts";
import { isTurnSpent, ownTurn } from "../worker/pauses.ts";
import { Contents } from "./delivery-content.ts";
import type { Held, Lane } from "./lane.ts";
import { deliveryAfter, healthAfter, isDelivered, type RetryPolicy } from "./retry-policy.ts";
import { sendToCallback, sendToWebhook } from "./send-delivery.ts";
import { spread } from "./spread.ts";

export interface AttemptSettings extends RetryPolicy {
  /** Names this process in the leases it holds. */
  readonly owner: string;
  /** Under which clients reach the host, for the token URLs of callbacks; "" when nobody said. */
  readonly publicUrl: string;
  /** From 0 to 1; spreads retries. */
  chance(): number;
}

export type DeliveryHost = Pick<Host, "store" | "nowMs" | "newId" | "outbound" | "tokens">;

/** What can be done with a delivery in hand; each ends our hold on it. */
interface Attempts {
  readonly counts: { readonly delivered: number; readonly failed: number; readonly dead: number };
  /** Sends it and writes what came of it. When it is cut short before there is an answer, it goes back as it was. */
  make(held: Held, lane: Lane, signal: AbortSignal): Promise<void>;
  /** As it was; somebody, maybe we, will claim it at `nextAtMs`. */
  handBack(held: Held, nextAtMs: number): Promise<void>;
  /** Its webhook was disabled. */
  bury(held: Held): Promise<void>;
  /** It stands for many deliveries, which are written now. */
  spread(held: Held, signal: AbortSignal): Promise<void>;
}

/** Ends without an attempt. */
const ENDS = {
  moot: { state: "delivered" },
  lost: { state: "dead", lastError: "what it is about is not there" },
  disabled: { state: "dead", lastError: "the webhook was disabled" },
} as const satisfies Record<string, Pick<AttemptOutcome, "state" | "lastError">>;

export function attemptsOf(host: DeliveryHost, settings: AttemptSettings): Attempts {
  const { store, nowMs, outbound } = host;
  const { owner } = settings;
  const counts = { delivered: 0, failed: 0, dead: 0 };
  const contents = new Contents();

  const handBack = async ({ delivery }: Held, nextAtMs: number): Promise<void> => {
    const { deliveryId, attempts, lastStatus, lastError } = delivery;
    const last = defined({ lastStatus, lastError });
    await store.finishAttempt({ deliveryId, owner, state: "pending", attempts, nextAtMs, ...last, atMs: nowMs() });
  };

  const settle = async ({ delivery }: Held, end: keyof typeof ENDS): Promise<void> => {
    const { deliveryId, attempts } = delivery;
    await store.finishAttempt({ deliveryId, owner, attempts, atMs: nowMs(), ...ENDS[end] });
  };

  const finish = async ({ delivery }: Held, lane: Lane, answer: OutboundAnswer): Promise<void> => {
    const moment = { nowMs: nowMs(), chance: settings.chance() };
    const { deliveryId, webhookId } = delivery;
    const before = lane.health;
    if (webhookId !== undefined) lane.health = healthAfter(before, answer, settings, moment);
    const health = webhookId === undefined ? undefined : lane.health;
    const after = deliveryAfter(delivery.attempts, answer, health, settings, moment);
    counts[isDelivered(answer) ? "delivered" : "failed"] += 1;
    if (after.state === "dead") counts.dead += 1;
    const webhook = webhookId === undefined ? {} : { webhook: { webhookId, ...lane.health } };
    await store.finishAttempt({ deliveryId, owner, atMs: moment.nowMs, ...after, ...webhook });
    const isDisabled = before.disabledAtMs === undefined && lane.health.disabledAtMs !== undefined;
    if (isDisabled) await auditDisabled(delivery, answer);
  };

  const auditDisabled = async ({ tenant, webhookId = "" }: ClaimedDelivery, answer: OutboundAnswer): Promise<void> => {
    const reason = "status" in answer ? `the receiver answered ${answer.status}` : answer.failure;
    const entry = { actor: "host", action: "webhook.disabled", target: webhookId, details: { reason } };
    await store.commit({ tenant, audit: [{ occurredAt: new Date(nowMs()).toISOString(), ...entry }] });
  };

  const send = async (held: Held, body: Buffer, signal: AbortSignal): Promise<OutboundAnswer | keyof typeof ENDS> => {
    const { deliveryId, eventType, webhookId, tenant, url = "" } = held.delivery;
    const message = { deliveryId, eventType, body };
    const sending = { nowMs: nowMs(), signal };
    if (webhookId === undefined) return sendToCallback(outbound, url, message, sending);
    // As it is now: it may have been deleted, or disabled by another process, since the delivery was claimed.
    const webhook = await store.readWebhook({ tenant }, webhookId);
    if (webhook === undefined) return "lost";
    if (webhook.disabledAtMs !== undefined) return "disabled";
    // Signing a text of megabytes takes its time, and many may be signed at once.
    if (isTurnSpent()) await ownTurn();
    return sendToWebhook(outbound, webhook, message, sending);
  };

  return {
    counts,
    handBack,
    bury: (held) => settle(held, "disabled"),
    async spread(held, signal) {
      await spread(host, held.delivery, signal);
      return signal.aborted ? handBack(held, nowMs()) : settle(held, "moot");
    },
    async make(held, lane, signal) {
      const { delivery, leaseUntilMs } = held;
      // It waited too long in its lane: by the time of the answer it could be somebody else's.
      if (nowMs() + outbound.timeoutMs >= leaseUntilMs) return handBack(held, nowMs());
      return contents.use({ ...host, publicUrl: settings.publicUrl }, delivery, async (content) => {
        if (typeof content === "string") return settle(held, content);
        const answer = await send(held, content.body, signal);
        if (typeof answer === "string") return settle(held, answer);
        return signal.aborted && !isDelivered(answer) ? handBack(held, nowMs()) : finish(held, lane, answer);
      });
    },
  };
}
