import { defined } from "../../protocol/defined.ts";
import type { WebhookRecord } from "../../store/port/gates.ts";
import { callOut, type OutboundAnswer } from "../outbound/call-out.ts";
import type { Outbound } from "../outbound/guard.ts";
import { SIGNATURE_ALGORITHM, signatureOf } from "./signature.ts";

/** A receiver's answer is of no interest beyond its status; this much is taken so that it can end in peace. */
const MAX_ANSWER_BYTES = 65_536;

interface Message {
  /** The same at every attempt, so that a receiver can tell a repetition. */
  readonly deliveryId: string;
  readonly eventType: string;
  readonly body: Buffer;
}

interface Sending {
  readonly nowMs: number;
  /** Cuts the call short. */
  readonly signal?: AbortSignal;
}

export function sendToWebhook(
  outbound: Outbound,
  webhook: Pick<WebhookRecord, "webhookId" | "url" | "secret">,
  message: Message,
  sending: Sending,
): Promise<OutboundAnswer> {
  const timestamp = secondsOf(sending);
  return send(outbound, webhook.url, message, sending, {
    "x-openwop-webhook-id": webhook.webhookId,
    "x-openwop-signature": signatureOf(webhook.secret, timestamp, message.body),
    "x-openwop-signature-algorithm": SIGNATURE_ALGORITHM,
  });
}

/** To the `callbackUrl` of a run. There is no secret to sign with: the token inside is what proves itself. */
export function sendToCallback(
  outbound: Outbound,
  url: string,
  message: Message,
  sending: Sending,
): Promise<OutboundAnswer> {
  return send(outbound, url, message, sending, {});
}

function send(
  outbound: Outbound,
  url: string,
  { deliveryId, eventType, body }: Message,
  sending: Sending,
  more: Readonly<Record<string, string>>,
): Promise<OutboundAnswer> {
  const { timeoutMs, userAgent } = outbound;
  const headers = {
    "content-type": "application/json",
    "user-agent": userAgent,
    "x-openwop-event-type": eventType,
    "x-openwop-timestamp": String(secondsOf(sending)),
    "x-openwop-delivery-id": deliveryId,
    ...more,
  };
  const signal = defined({ signal: sending.signal });
  return callOut(outbound, { url, headers, body, timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES, ...signal });
}

function secondsOf({ nowMs }: Sending): number {
  return Math.floor(nowMs / 1000);
}
