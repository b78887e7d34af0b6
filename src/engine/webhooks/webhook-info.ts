import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import type { DeliveryInfo, WebhookInfo } from "../../protocol/webhooks/api.ts";
import type { DeliveryRecord, WebhookRecord } from "../../store/port/gates.ts";
import { fingerprintOf } from "./signature.ts";

/** A webhook, without what must never be shown. The URL may hold a key of the receiver's. */
export function webhookInfo(
  webhook: WebhookRecord,
  nowMs: number,
  { scrubText }: Pick<Scrubber, "scrubText">,
): WebhookInfo {
  const { webhookId, workspace, url, events, tags, createdBy, failures } = webhook;
  const state = stateOf(webhook, nowMs);
  return {
    webhookId,
    ...defined({ workspace }),
    url: scrubText(url),
    events: [...events],
    tags: tags.map((tag) => scrubText(tag)),
    secretFingerprint: fingerprintOf(webhook.secret),
    createdBy,
    createdAt: new Date(webhook.createdAtMs).toISOString(),
    state,
    failures,
    ...at("failingSince", webhook.failingSinceMs),
    ...(state === "open-circuit" ? at("circuitUntil", webhook.circuitUntilMs) : {}),
    ...at("disabledAt", webhook.disabledAtMs),
  };
}

function stateOf({ disabledAtMs, circuitUntilMs, failures }: WebhookRecord, nowMs: number): WebhookInfo["state"] {
  if (disabledAtMs !== undefined) return "disabled";
  if (circuitUntilMs !== undefined && circuitUntilMs > nowMs) return "open-circuit";
  return failures > 0 ? "failing" : "active";
}

export function deliveryInfo(delivery: DeliveryRecord): DeliveryInfo {
  const { deliveryId, runId, sequence, eventType, state, attempts, lastStatus, lastError } = delivery;
  return {
    deliveryId,
    runId,
    sequence,
    eventType,
    state,
    attempts,
    createdAt: new Date(delivery.atMs).toISOString(),
    ...(state === "pending" ? at("nextAttemptAt", delivery.nextAtMs) : {}),
    ...defined({ lastStatus, lastError }),
    ...at("finishedAt", delivery.finishedAtMs),
  };
}

function at<N extends string>(name: N, ms: number | undefined): { [K in N]?: string } {
  return ms === undefined ? {} : ({ [name]: new Date(ms).toISOString() } as { [K in N]?: string });
}
