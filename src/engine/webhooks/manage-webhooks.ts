import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { type Caller, visibilityOf } from "../../protocol/identity/identity.ts";
import type {
  DeliveryInfo,
  ListWebhooksResponse,
  RegisterWebhookRequest,
  RegisterWebhookResponse,
  WebhookInfo,
} from "../../protocol/webhooks/api.ts";
import type { DeliveryRecord, WebhookRecord } from "../../store/port/gates.ts";
import type { Unit } from "../../store/port/store.ts";
import { auditDraft, commitUnit, type Recorder } from "../execute.ts";
import type { Host } from "../host.ts";
import { checkUrl } from "../outbound/guard.ts";
import { serializeFor } from "../shared/serialize.ts";
import { requirePatterns } from "./event-patterns.ts";
import { fingerprintOf, newSecret } from "./send-delivery.ts";

/** Webhooks of a tenant, at most: each event is written once more for each webhook that receives it, in the same transaction. */
const WEBHOOKS_MAX = 100;

/** Makes a webhook in the caller's tenant and, if the caller is bound to one, its workspace. Only the response shows the secret. */
export async function registerWebhook(
  host: Host,
  caller: Caller,
  request: RegisterWebhookRequest,
  record: Recorder<RegisterWebhookResponse> = () => undefined,
): Promise<RegisterWebhookResponse> {
  const { tenantId, url, events, tags = [] } = request;
  requireOwnTenant(caller, tenantId);
  requirePatterns(events);
  requireHarmless(host, tags);
  await checkUrl(host.outbound, url);
  const nowMs = host.nowMs();
  const secret = request.secret ?? newSecret();
  const webhook: WebhookRecord = {
    webhookId: host.newId("hook"),
    ...visibilityOf(caller),
    url,
    events: [...new Set(events)],
    tags: [...new Set(tags)],
    secret,
    createdBy: caller.principal,
    createdAtMs: nowMs,
    failures: 0,
  };
  const { webhookId } = webhook;
  const secretFingerprint = fingerprintOf(secret);
  // A URL may have a key of the receiver, so the log names its host only.
  const details = { host: new URL(url).host, events: webhook.events.join(" "), secretFingerprint };
  const registered = { webhookId, secret, secretFingerprint };
  // The outcome keeps the secret for repeated requests; the webhook has to keep it anyway.
  const outcome = record(registered);
  const audit = [auditDraft(caller, nowMs, webhookId, { action: "webhook.registered", details })];
  const unit: Unit = { tenant: caller.tenant, webhooks: [{ type: "put", webhook }], audit };
  await withRoomForWebhook(host, caller, () => commitUnit(host, unit, outcome));
  return registered;
}

/** New webhooks of a tenant are made one after the other in this process; several hosts on one database can exceed the limit by one webhook each. */
async function withRoomForWebhook({ store }: Host, { tenant }: Caller, put: () => Promise<void>): Promise<void> {
  return serializeFor(store, `webhooks of ${tenant}`, async () => {
    if ((await store.listWebhooks({ tenant })).length < WEBHOOKS_MAX) return put();
    throw validationError(`the tenant has ${WEBHOOKS_MAX} webhooks; delete one first`);
  });
}

interface ChangeWebhook<Result> {
  readonly caller: Caller;
  readonly webhookId: string;
  readonly record: Recorder<Result>;
}

export async function deleteWebhook(
  host: Host,
  { caller, webhookId, tenantId, record }: ChangeWebhook<undefined> & { readonly tenantId?: string | undefined },
): Promise<undefined> {
  requireOwnTenant(caller, tenantId);
  await visibleWebhook(host, caller, webhookId);
  const audit = [auditDraft(caller, host.nowMs(), webhookId, { action: "webhook.deleted", details: {} })];
  const unit: Unit = { tenant: caller.tenant, webhooks: [{ type: "delete", webhookId }], audit };
  await commitUnit(host, unit, record(undefined));
}

/** Enables a webhook and resets its failures: waiting deliveries are due at once. */
export async function enableWebhook(
  host: Host,
  { caller, webhookId, record }: ChangeWebhook<WebhookInfo>,
): Promise<WebhookInfo> {
  const webhook = await visibleWebhook(host, caller, webhookId);
  const { failingSinceMs: _since, circuitUntilMs: _until, disabledAtMs: _at, ...rest } = webhook;
  const nowMs = host.nowMs();
  const info = webhookInfo({ ...rest, failures: 0 }, nowMs, host.scrubber);
  const audit = [auditDraft(caller, nowMs, webhookId, { action: "webhook.enabled", details: {} })];
  const unit: Unit = { tenant: caller.tenant, webhooks: [{ type: "enable", webhookId }], audit };
  await commitUnit(host, unit, record(info));
  return info;
}

export async function listWebhooks(host: Host, caller: Caller): Promise<ListWebhooksResponse> {
  const nowMs = host.nowMs();
  const webhooks = await host.store.listWebhooks(visibilityOf(caller));
  return { webhooks: webhooks.map((webhook) => webhookInfo(webhook, nowMs, host.scrubber)) };
}

/** Refuses tags that look like secrets: tags are compared exactly, so they cannot be scrubbed. */
function requireHarmless({ scrubber: { scrubText } }: Host, tags: readonly string[]): void {
  if (tags.every((tag) => scrubText(tag) === tag)) return;
  throw validationError("a tag looks like a secret; tags are stored and shown, choose another one", { field: "tags" });
}

/** Throws `tenant_mismatch` where a request names a tenant that its key does not belong to. */
function requireOwnTenant({ tenant }: Caller, named: string | undefined): void {
  if (named !== undefined && named !== tenant) throw new AppError("tenant_mismatch");
}

/** Throws `subscription_not_found` for webhooks that do not exist or are not visible. */
export async function visibleWebhook(host: Host, caller: Caller, webhookId: string): Promise<WebhookRecord> {
  const webhook = await host.store.readWebhook(visibilityOf(caller), webhookId);
  if (!webhook) throw new AppError("subscription_not_found", { webhookId });
  return webhook;
}

/** A webhook without its secret. The URL is scrubbed: it may have a key of the receiver. */
function webhookInfo(webhook: WebhookRecord, nowMs: number, { scrubText }: Pick<Scrubber, "scrubText">): WebhookInfo {
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
