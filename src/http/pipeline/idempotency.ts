import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Host } from "../../engine/host.ts";
import { bearerOf } from "../../engine/identity/authenticate.ts";
import { RecordedOutcome } from "../../engine/shared/recorded-outcome.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { IdempotencyKey, IdempotencyOutcome, IdempotencyRecord } from "../../store/port/store.ts";
import type { Reply } from "./reply.ts";
import { errorReply, isForClient, serialize, type Written } from "./reply.ts";
import { fillPath } from "./route-pattern.ts";
import { openReply, sealReply } from "./seal-reply.ts";

/** A request under its idempotency key. */
export interface Keyed extends IdempotencyKey {
  readonly digest: string;
  /** Names the pending claim, where one is made. */
  readonly leaseOwner?: string;
  /** The API key that recorded replies are sealed with, where they hold a secret. */
  readonly sealedWith?: string;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The key as it is stored: one that looks like a secret is told from others by its hash. */
export function checkedKey(header: string, { scrubText }: Pick<Scrubber, "scrubText">): string {
  if (KEY.test(header)) return scrubText(header) === header ? header : hashed(header);
  throw new AppError("validation_error", { problem: "Idempotency-Key must be 1 to 255 printable ASCII characters" });
}

function hashed(key: string): string {
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

/**
 * Of everything in the request that decides what happens. Two ways to write the same JSON value are one request. `by`
 * is given where it matters who asks: the same vote of somebody else is another vote.
 */
export function digestOf(body: unknown, dedup: string | undefined, by?: string, query: object = {}): string {
  const asked = Object.keys(query).length === 0 ? [] : [{ query }];
  return createHash("sha256")
    .update(canonicalJson([body, dedup ?? null, ...(by === undefined ? [] : [by]), ...asked]))
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
  const dedup = headers["x-dedup"];
  // Keys of one workspace must not meet those of another, which could not see what is replayed.
  const place = caller.workspace === undefined ? "" : ` in ${caller.workspace}`;
  return {
    tenant: caller.tenant,
    operation: `${operation.method} ${fillPath(operation.path, params)}${place}`,
    key: checkedKey(String(header), scrubber),
    digest: digestOf(
      body.value,
      dedup === undefined ? undefined : String(dedup),
      askerOf(operation, caller),
      query as object | undefined,
    ),
    ...(operation.sealsReply === true ? { sealedWith: bearerOf(headers.authorization) ?? "" } : {}),
    ...(operation.idempotent === "many" ? { leaseOwner: newId("req") } : {}),
  };
}

const ASKER_MATTERS: readonly Operation["access"][] = [
  "approvals:respond",
  "runs:annotate",
  "webhooks:manage",
  "suites:write",
  // Where the scope depends on the body, the handler asks for it; what was answered to one is not for another.
  "authenticated",
];

/** Who asks is part of an answer to a gate and of a judgment; the secret of a webhook is for its registrant. */
function askerOf({ sealsReply, access }: Operation, { principal, keyId }: Caller): string | undefined {
  // Another key of the same principal could not open what was recorded.
  if (sealsReply === true) return keyId;
  return ASKER_MATTERS.includes(access) ? principal : undefined;
}

/**
 * Runs the request unless its outcome stands already; then that is the answer, byte for byte. A request that makes
 * one commit records its outcome in that commit, so that racing twins are refused there and nothing happens twice. A
 * request that makes several claims its key first.
 */
export async function oncePerKey(
  host: Host,
  keyed: Keyed,
  run: () => Reply | Promise<Reply>,
  wasRecorded: () => boolean,
): Promise<Reply> {
  const standing =
    keyed.leaseOwner === undefined ? await lookUp(host, keyed) : await claim(host, keyed, keyed.leaseOwner);
  if (standing) return replay(standing, keyed);
  try {
    const reply = await run();
    if (reply === "hijacked" || wasRecorded()) return reply;
    return await settle(host, keyed, reply, "completed");
  } catch (error) {
    if (error instanceof RecordedOutcome) return replay(error.record, keyed);
    if (isForClient(error) && isFinal(error)) {
      return settle(host, keyed, errorReply(error, host.scrubber), "terminal-failure");
    }
    // What may go better next time must not stand in its way. If even this fails, the claim ends with its lease.
    if (keyed.leaseOwner !== undefined) await host.store.releaseIdempotency(keyed, keyed.leaseOwner).catch(() => {});
    throw error;
  }
}

/** Another key, or other room, and the request is taken. */
const AGAIN: ReadonlySet<number> = new Set([401, 403, 429]);

/** Refusals that say nothing about the request itself, or that another credential or body would change, are not kept. */
function isFinal(error: AppError): boolean {
  // Whoever waits for people, or for room, asks the same thing again.
  if (error.details["waiting"] === true || error.details["full"] === true) return false;
  if (error.mayRetry || error.status >= 500 || AGAIN.has(error.status)) return false;
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

/** Records an outcome in a commit of its own. Another that stands by now wins. */
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
    ...(leaseOwner === undefined ? {} : { leaseOwner }),
    nowMs,
    expiresAtMs: nowMs + host.idempotency.retentionMs,
  };
}
