import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type {
  ListWebhooksResponse,
  RegisterWebhookRequest,
  RegisterWebhookResponse,
  WebhookInfo,
} from "../../protocol/webhooks/api.ts";
import type { WebhookRecord } from "../../store/port/gates.ts";
import type { Unit } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { checkUrl } from "../outbound/guard.ts";
import { serializeFor } from "../shared/serialize.ts";
import { requirePatterns } from "./event-patterns.ts";
import { fingerprintOf, newSecret } from "./signature.ts";
import { webhookInfo } from "./webhook-info.ts";

/** Every event is written once more for each webhook that wants it, in the same transaction. */
const WEBHOOKS_MAX = 100;

/**
 * Makes a webhook in the caller's tenant and, when the caller is bound to one, its workspace. The answer is the only
 * place where the secret is ever shown.
 */
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
  // A URL may hold a key of the receiver's, so the log names its host only.
  const details = { host: new URL(url).host, events: webhook.events.join(" "), secretFingerprint };
  const registered = { webhookId, secret, secretFingerprint };
  // Kept for as long as a repetition may ask for it, beside the webhook, which has to keep the secret anyway.
  const outcome = record(registered);
  await withRoomForWebhook(host, caller, () =>
    commit(host, {
      tenant: caller.tenant,
      webhooks: [{ type: "put", webhook }],
      audit: [auditDraft(caller, nowMs, webhookId, { action: "webhook.registered", details })],
      ...defined({ idempotency: outcome }),
    }),
  );
  return registered;
}

/**
 * New webhooks of a tenant take turns in this process, so that many at once do not all see the same room; several hosts on one database
 * can exceed the limit by one webhook each.
 */
async function withRoomForWebhook({ store }: Host, { tenant }: Caller, put: () => Promise<void>): Promise<void> {
  return serializeFor(store, `webhooks of ${tenant}`, async () => {
    if ((await store.listWebhooks({ tenant })).length < WEBHOOKS_MAX) return put();
    throw new AppError("validation_error", { problem: `the tenant has ${WEBHOOKS_MAX} webhooks; delete one first` });
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
  const outcome = record(undefined);
  await commit(host, {
    tenant: caller.tenant,
    webhooks: [{ type: "delete", webhookId }],
    audit: [auditDraft(caller, host.nowMs(), webhookId, { action: "webhook.deleted", details: {} })],
    ...defined({ idempotency: outcome }),
  });
}

/** Forgets the failures: what waits is due again at once. */
export async function enableWebhook(
  host: Host,
  { caller, webhookId, record }: ChangeWebhook<WebhookInfo>,
): Promise<WebhookInfo> {
  const webhook = await visibleWebhook(host, caller, webhookId);
  const { failingSinceMs: _since, circuitUntilMs: _until, disabledAtMs: _at, ...rest } = webhook;
  const nowMs = host.nowMs();
  const info = webhookInfo({ ...rest, failures: 0 }, nowMs, host.scrubber);
  const outcome = record(info);
  await commit(host, {
    tenant: caller.tenant,
    webhooks: [{ type: "enable", webhookId }],
    audit: [auditDraft(caller, nowMs, webhookId, { action: "webhook.enabled", details: {} })],
    ...defined({ idempotency: outcome }),
  });
  return info;
}

export async function listWebhooks(host: Host, caller: Caller): Promise<ListWebhooksResponse> {
  const nowMs = host.nowMs();
  const webhooks = await host.store.listWebhooks(visibilityOf(caller));
  return { webhooks: webhooks.map((webhook) => webhookInfo(webhook, nowMs, host.scrubber)) };
}

/** Tags tell webhooks apart by every letter, so one that looks like a secret is refused and not scrubbed. */
function requireHarmless({ scrubber: { scrubText } }: Host, tags: readonly string[]): void {
  if (tags.every((tag) => scrubText(tag) === tag)) return;
  const problem = "a tag looks like a secret; tags are stored and shown, choose another one";
  throw new AppError("validation_error", { problem, field: "tags" });
}

/** Throws `tenant_mismatch` where a request names a tenant that its key does not belong to. */
function requireOwnTenant({ tenant }: Caller, named: string | undefined): void {
  if (named !== undefined && named !== tenant) throw new AppError("tenant_mismatch");
}

/** Throws `subscription_not_found` for webhooks that do not exist and for those of others alike. */
export async function visibleWebhook(host: Host, caller: Caller, webhookId: string): Promise<WebhookRecord> {
  const webhook = await host.store.readWebhook(visibilityOf(caller), webhookId);
  if (!webhook) throw new AppError("subscription_not_found", { webhookId });
  return webhook;
}

export function visibilityOf({ tenant, workspace }: Caller): Visibility {
  return workspace === undefined ? { tenant } : { tenant, workspace };
}

async function commit(host: Host, unit: Unit): Promise<void> {
  const committed = await host.store.commit(unit);
  if (!committed.ok) throw refused(committed.refusal);
}
