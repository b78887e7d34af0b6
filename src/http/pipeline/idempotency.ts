import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Host } from "../../engine/host.ts";
import { bearerOf } from "../../engine/identity/authenticate.ts";
import { RecordedOutcome } from "../../engine/shared/once-only.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { IdempotencyKey, IdempotencyOutcome, IdempotencyRecord } from "../../store/port/store.ts";
import { fillPath } from "./read-url.ts";
import { errorReply, isForClient, type Reply, serialize, type Written } from "./reply.ts";

/** A request under its idempotency key. */
export interface Keyed extends IdempotencyKey {
  readonly digest: string;
  /** Names the pending claim, where one is made. */
  readonly leaseOwner?: string;
  /** The API key that recorded replies are sealed with, where they hold a secret. */
  readonly sealedWith?: string;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The key as it is stored: a key that looks like a secret is stored as its hash. */
export function checkedKey(header: string, { scrubText }: Pick<Scrubber, "scrubText">): string {
  if (KEY.test(header)) return scrubText(header) === header ? header : hashed(header);
  throw validationError("Idempotency-Key must be 1 to 255 printable ASCII characters");
}

function hashed(key: string): string {
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

/**
 * The digest of all parts of a request that determine its effect. Two spellings of the same JSON value are one request. `by` is the
 * principal or key where it matters: the same vote of another person is another vote.
 */
export function digestOf(body: unknown, dedup: string | undefined, by?: string, query: object = {}): string {
  const more = [...(by === undefined ? [] : [by]), ...(Object.keys(query).length === 0 ? [] : [{ query }])];
  return createHash("sha256")
    .update(canonicalJson([body, dedup ?? null, ...more]))
    .digest("hex");
}

interface KeyableRequest {
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly body: { readonly value: unknown };
  readonly query: unknown;
}

/** The request under the key that it carries; undefined without one, and where the operation takes none. */
export function keyedRequest(
  operation: Operation,
  { scrubber, newId }: Pick<Host, "scrubber" | "newId">,
  { headers, caller, params, body, query }: KeyableRequest,
): Keyed | undefined {
  const header = headers["idempotency-key"];
  if (operation.idempotent === undefined || header === undefined) return undefined;
  const dedup = headers["x-dedup"]?.toString();
  // Keys of one workspace are apart from those of others, which may not see the replayed response.
  const place = caller.workspace === undefined ? "" : ` in ${caller.workspace}`;
  return {
    tenant: caller.tenant,
    operation: `${operation.method} ${fillPath(operation.path, params)}${place}`,
    key: checkedKey(String(header), scrubber),
    digest: digestOf(body.value, dedup, requesterOf(operation, caller), query as object | undefined),
    ...(operation.sealsReply === true ? { sealedWith: bearerOf(headers.authorization) ?? "" } : {}),
    ...(operation.idempotent === "many" ? { leaseOwner: newId("req") } : {}),
  };
}

const REQUESTER_MATTERS: readonly Operation["access"][] = [
  "approvals:respond",
  "runs:annotate",
  "webhooks:manage",
  "suites:write",
  // The handler checks a scope that depends on the body, so the response to one principal is not for another.
  "authenticated",
];

/** The requester is part of a vote and of a judgment; the secret of a webhook is for its registrant only. */
function requesterOf({ sealsReply, access }: Operation, { principal, keyId }: Caller): string | undefined {
  // Another key of the same principal could not open the recorded response.
  if (sealsReply === true) return keyId;
  return REQUESTER_MATTERS.includes(access) ? principal : undefined;
}

/**
 * Runs the request, or replays its recorded outcome byte for byte. A request of one commit records its outcome in that commit, which
 * refuses a concurrent request with the same key. A request of many commits claims its key first.
 */
export async function oncePerKey(
  host: Host,
  keyed: Keyed,
  run: () => Reply | Promise<Reply>,
  wasRecorded: () => boolean,
): Promise<Reply> {
  const recorded =
    keyed.leaseOwner === undefined ? await lookUp(host, keyed) : await claim(host, keyed, keyed.leaseOwner);
  if (recorded) return replay(recorded, keyed);
  try {
    const reply = await run();
    if (reply === "hijacked" || wasRecorded()) return reply;
    return await settle(host, keyed, reply, "completed");
  } catch (error) {
    if (error instanceof RecordedOutcome) return replay(error.record, keyed);
    if (isForClient(error) && isFinal(error)) {
      return settle(host, keyed, errorReply(error, host.scrubber), "terminal-failure");
    }
    // A failure that may not repeat must not block the next attempt. If the release fails, the claim ends with its lease.
    if (keyed.leaseOwner !== undefined) await host.store.releaseIdempotency(keyed, keyed.leaseOwner).catch(() => {});
    throw error;
  }
}

/** Refusals that depend on the key or the load, and not on the request. */
const OF_CALLER: ReadonlySet<number> = new Set([401, 403, 429]);

/** Refusals that do not follow from the request itself, or that another credential or body would change, are not recorded. */
function isFinal(error: AppError): boolean {
  // A client that waits for people, or for room, sends the same request again.
  if (error.details["waiting"] === true || error.details["full"] === true) return false;
  if (error.mayRetry || error.status >= 500 || OF_CALLER.has(error.status)) return false;
  return error.code !== "validation_error" && error.code !== "vote_not_bound";
}

async function lookUp(host: Host, keyed: Keyed): Promise<IdempotencyRecord | undefined> {
  const nowMs = host.nowMs();
  const record = await host.store.readIdempotency(keyed, nowMs);
  if (record === undefined || record.state === "retryable-failure") return undefined;
  return record.state === "pending" && (record.leaseUntilMs ?? 0) <= nowMs ? undefined : record;
}

function claim(host: Host, keyed: Keyed, leaseOwner: string): Promise<IdempotencyRecord | undefined> {
  const { tenant, operation, key, digest } = keyed;
  const nowMs = host.nowMs();
  const { leaseMs, retentionMs } = host.idempotency;
  const until = { leaseUntilMs: nowMs + leaseMs, expiresAtMs: nowMs + retentionMs };
  return host.store.claimIdempotency({ tenant, operation, key, digest, leaseOwner, nowMs, ...until });
}

function replay(record: IdempotencyRecord, keyed: Keyed): Written {
  if (record.digest !== keyed.digest) throw new AppError("idempotency_key_mismatch");
  if (record.response === undefined) throw new AppError("idempotency_in_flight", { retryAfter: 1 });
  const { status, headers, body: stored } = record.response;
  const body = keyed.sealedWith === undefined ? stored : openReply(stored, keyed.sealedWith);
  const { "content-type": contentType = "application/json", ...own } = headers;
  return { status, raw: body, contentType, headers: { ...own, "openwop-Idempotent-Replay": "true" } };
}

/** Records an outcome in its own commit. An outcome that was recorded meanwhile wins. */
async function settle(
  host: Host,
  keyed: Keyed,
  reply: Written,
  state: "completed" | "terminal-failure",
): Promise<Written> {
  const committed = await host.store.commit({
    tenant: keyed.tenant,
    idempotency: outcomeOf(host, keyed, reply, state),
  });
  if (committed.ok) return reply;
  if (committed.refusal.type === "idempotency") return replay(committed.refusal.record, keyed);
  throw new Error(`an outcome alone was refused: ${committed.refusal.type}`);
}

export function outcomeOf(
  host: Host,
  { tenant, operation, key, digest, leaseOwner, sealedWith }: Keyed,
  reply: Written,
  state: "completed" | "terminal-failure" = "completed",
): IdempotencyOutcome {
  const { body: text, contentType } = serialize(reply);
  if (typeof text !== "string") throw new Error("only replies of text can be recorded under an idempotency key");
  const body = sealedWith === undefined ? text : sealReply(text, sealedWith);
  const nowMs = host.nowMs();
  return {
    tenant,
    operation,
    key,
    digest,
    state,
    response: { status: reply.status, headers: { ...reply.headers, "content-type": contentType }, body },
    ...defined({ leaseOwner }),
    nowMs,
    expiresAtMs: nowMs + host.idempotency.retentionMs,
  };
}

/**
 * Encrypts a recorded reply that holds a secret with the API key of the caller: AES-256-GCM under a key derived by HKDF. The host stores only
 * hashes of API keys, so only a request with the same API key can open the reply.
 */
export function sealReply(text: string, apiKey: string): string {
  const salt = randomBytes(SALT);
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(CIPHER, keyOf(apiKey, salt), nonce);
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return `${PREFIX}${Buffer.concat([salt, nonce, cipher.getAuthTag(), sealed]).toString("base64")}`;
}

/** Throws `idempotency_key_mismatch` where another API key sealed it. */
export function openReply(stored: string, apiKey: string): string {
  if (!stored.startsWith(PREFIX)) throw new AppError("idempotency_key_mismatch");
  const bytes = Buffer.from(stored.slice(PREFIX.length), "base64");
  const nonceAt = SALT;
  const tagAt = nonceAt + NONCE;
  const textAt = tagAt + TAG;
  try {
    const opener = createDecipheriv(CIPHER, keyOf(apiKey, bytes.subarray(0, nonceAt)), bytes.subarray(nonceAt, tagAt));
    opener.setAuthTag(bytes.subarray(tagAt, textAt));
    return Buffer.concat([opener.update(bytes.subarray(textAt)), opener.final()]).toString("utf8");
  } catch (error) {
    throw new AppError("idempotency_key_mismatch", {}, { cause: error });
  }
}

const CIPHER = "aes-256-gcm";
const PREFIX = "sealed:1:";
const SALT = 16;
const NONCE = 12;
const TAG = 16;

function keyOf(apiKey: string, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", apiKey, salt, "assay idempotency reply", 32));
}
