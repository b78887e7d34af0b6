import { defined } from "../../protocol/defined.ts";
import { tokenAllowed } from "../../protocol/gates/gate-rules.ts";
import { isoOf } from "../../protocol/instant.ts";
import { own } from "../../protocol/own.ts";
import type { AttemptOutcome, ClaimedDelivery } from "../../store/port/gates.ts";
import { isOverdue } from "../gates/decide/close-interrupt.ts";
import { tokenEndMs, tokenFor } from "../gates/shown-gates.ts";
import type { Host } from "../host.ts";
import type { OutboundAnswer } from "../outbound/call-out.ts";
import { isTurnSpent, ownTurn } from "../worker/pauses.ts";
import type { Held, Lane } from "./dispatcher.ts";
import { deliveryAfter, healthAfter, isDelivered, type RetryPolicy } from "./retry-policy.ts";
import { sendToCallback, sendToWebhook } from "./send-delivery.ts";
import { spread } from "./spread.ts";

export interface AttemptSettings extends RetryPolicy {
  /** The owner of this process's leases. */
  readonly owner: string;
  /** The URL under which clients reach the host, for the token URLs of callbacks; "" if not configured. */
  readonly publicUrl: string;
  /** From 0 to 1; spreads retries. */
  chance(): number;
}

export type DeliveryHost = Pick<Host, "store" | "nowMs" | "newId" | "outbound" | "tokens">;

/** The ends of a held delivery. */
interface Attempts {
  readonly counts: { readonly delivered: number; readonly failed: number; readonly dead: number };
  /** Sends the delivery and records the answer. Where it is aborted before an answer, the delivery is released unchanged. */
  make(held: Held, lane: Lane, signal: AbortSignal): Promise<void>;
  /** Releases the delivery unchanged, to be claimed at `nextAtMs`. */
  handBack(held: Held, nextAtMs: number): Promise<void>;
  /** Ends the delivery of a disabled webhook. */
  bury(held: Held): Promise<void>;
  /** Writes the deliveries that the row of this one stands for, and ends it. */
  spread(held: Held, signal: AbortSignal): Promise<void>;
}

/** Ends without an attempt. */
const ENDS = {
  moot: { state: "delivered" },
  lost: { state: "dead", lastError: "its event or interrupt does not exist" },
  disabled: { state: "dead", lastError: "the webhook was disabled" },
} as const satisfies Record<string, Pick<AttemptOutcome, "state" | "lastError">>;

export function attemptsOf(host: DeliveryHost, settings: AttemptSettings): Attempts {
  const { store, nowMs, outbound } = host;
  const { owner } = settings;
  const counts = { delivered: 0, failed: 0, dead: 0 };
  const contents = new Contents();

  const handBack = async ({ delivery }: Held, nextAtMs: number): Promise<void> => {
    const { deliveryId, attempts, lastStatus, lastError } = delivery;
    const after = defined({ state: "pending" as const, attempts, nextAtMs, lastStatus, lastError });
    await store.finishAttempt({ deliveryId, owner, ...after, atMs: nowMs() });
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
    await store.commit({ tenant, audit: [{ occurredAt: isoOf(nowMs()), ...entry }] });
  };

  const send = async (held: Held, body: Buffer, signal: AbortSignal): Promise<OutboundAnswer | keyof typeof ENDS> => {
    const { deliveryId, eventType, webhookId, tenant, url = "" } = held.delivery;
    const message = { deliveryId, eventType, body };
    const sending = { nowMs: nowMs(), signal };
    if (webhookId === undefined) return sendToCallback(outbound, url, message, sending);
    // Read again: it may have been deleted, or disabled by another process, since the delivery was claimed.
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
      // After a long wait in its lane the lease could end before the answer.
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

/** The body of a delivery, made when it is sent. `moot` where the interrupt is not open any more, `lost` where its event or interrupt is not found. */
type Content = { readonly body: Buffer } | "moot" | "lost";

type Given = Pick<Host, "store" | "nowMs" | "tokens"> & {
  /** The URL under which clients reach the host; "" if not configured. */
  readonly publicUrl: string;
};

/** The contents of deliveries under way. All webhooks that get an event share its text, which may be megabytes long. */
class Contents {
  readonly #underWay = new Map<string, { readonly content: Promise<Content>; users: number }>();

  /** Each content is released when the work of its last user has ended. */
  async use<T>(given: Given, delivery: ClaimedDelivery, work: (content: Content) => Promise<T>): Promise<T> {
    const { runId, sequence, webhookId } = delivery;
    const key = webhookId === undefined ? delivery.deliveryId : `${runId} ${sequence}`;
    const shared = this.#underWay.get(key) ?? { content: contentOf(given, delivery), users: 0 };
    this.#underWay.set(key, shared);
    shared.users += 1;
    try {
      return await work(await shared.content);
    } finally {
      shared.users -= 1;
      if (shared.users === 0) this.#underWay.delete(key);
    }
  }
}

async function contentOf(given: Given, delivery: ClaimedDelivery): Promise<Content> {
  const [event] = await given.store.readEvents(delivery.runId, delivery.sequence, 1);
  if (event?.sequence !== delivery.sequence) return "lost";
  if (delivery.webhook === undefined) return callbackContent(given, delivery, event.body);
  const { runId, workspace } = delivery;
  const place = workspace === undefined ? "" : `"workspaceId":${JSON.stringify(workspace)},`;
  // The event's own text, byte for byte as the events route serves it, with sensitive values masked.
  const type = JSON.stringify(event.type);
  return { body: Buffer.from(`{"type":${type},"runId":${JSON.stringify(runId)},${place}"event":${event.body}}`) };
}

/** The token of an interrupt that is open and can be answered by a token. */
async function callbackContent(given: Given, delivery: ClaimedDelivery, eventText: string): Promise<Content> {
  const { runId, interruptId = "", tenant } = delivery;
  const run = await given.store.readRun({ tenant }, runId);
  const interrupt = run && own(run.interrupts, interruptId);
  if (interrupt === undefined) return "lost";
  const isOpen = interrupt.status === "open" && !isOverdue(interrupt, given.nowMs());
  if (!isOpen || !tokenAllowed(interrupt)) return "moot";
  const { nodeId, kind, requestedAt } = interrupt;
  const interruptToken = tokenFor(given, runId, interrupt);
  const callbackUrl = `${given.publicUrl}/v1/interrupts/${interruptToken}`;
  const expiresAt = new Date(tokenEndMs(given, interrupt)).toISOString();
  // The data of the event, which is masked: the folded interrupt has sensitive values.
  const { data } = JSON.parse(eventText).payload as { readonly data?: unknown };
  const about = { runId, nodeId, interruptId, kind, interruptToken, callbackUrl, expiresAt, requestedAt };
  return { body: Buffer.from(JSON.stringify(data === undefined ? about : { ...about, data })) };
}
