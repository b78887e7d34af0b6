import { createHash, createHmac, randomBytes } from "node:crypto";
import { defined } from "../../protocol/defined.ts";
import type { WebhookRecord } from "../../store/port/gates.ts";
import { callOut, type OutboundAnswer } from "../outbound/call-out.ts";
import type { Outbound } from "../outbound/guard.ts";

/** Bytes of an answer that are read, so that the receiver can finish it; only its status is used. */
const MAX_ANSWER_BYTES = 65_536;

interface Message {
  /** The same for each attempt, so that a receiver can detect repetitions. */
  readonly deliveryId: string;
  readonly eventType: string;
  readonly body: Buffer;
}

interface Sending {
  readonly nowMs: number;
  /** Aborts the call. */
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

/** Sends to the `callbackUrl` of a run, without a signature: the token in the body is the credential. */
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

/** The name of the signature algorithm in headers and discovery. */
export const SIGNATURE_ALGORITHM = "v1" as const;

/** The signature of a body with its timestamp, so that a recorded delivery cannot be sent again later. */
function signatureOf(secret: string, timestamp: number, body: Buffer): string {
  return `sha256=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`;
}

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64url")}`;
}

/** The first 8 hex digits of a secret's SHA-256, by which its owners identify it. */
export function fingerprintOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex").slice(0, 8);
}
