import { createHash, randomInt, timingSafeEqual } from "node:crypto";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { isoOf } from "../../protocol/instant.ts";
import type { KeyRecord } from "../../store/port/store.ts";
import { auditDraft } from "../execute.ts";
import type { Host } from "../host.ts";
import { atMostEvery, onceOnly } from "../shared/once-only.ts";
import { ShortCache } from "../shared/short-cache.ts";

export interface Authenticator {
  /**
   * The caller of an `Authorization` header. Throws `unauthenticated` for a missing or malformed header and for an unknown key;
   * `key_expired`; `key_revoked`.
   */
  authenticate(authorization: string | undefined): Promise<Caller>;
  readonly cacheMs: number;
  /** Stops listening for changes, and waits for notes that are being written. */
  close(): Promise<void>;
}

interface AuthenticatorOptions {
  /** How long a key is cached, in case a notification gets lost. */
  readonly cacheMs?: number;
  /** Called where the use of a key could not be noted. The request continues. */
  readonly onTrouble?: (error: unknown) => void;
}

export function authenticator(
  host: Pick<Host, "store" | "nowMs">,
  { cacheMs = 1000, onTrouble = () => {} }: AuthenticatorOptions = {},
): Authenticator {
  const { store, nowMs } = host;
  const keys = new ShortCache<KeyRecord>({ keepMs: cacheMs, nowMs, load: (hash) => store.findKey(hash) });
  const uses = keyUses(host, onTrouble);
  const unsubscribe = store.onChange((change) => {
    if (change.keys) keys.clear();
  });

  return {
    cacheMs,
    async authenticate(authorization) {
      const key = bearerOf(authorization);
      const hash = key === undefined ? undefined : hashOfKey(key);
      const found = hash === undefined ? undefined : await keys.get(hash);
      if (hash === undefined || found === undefined || !sameDigest(hash, found.hash)) {
        throw new AppError("unauthenticated");
      }
      const now = nowMs();
      const caller = callerWith(found, now);
      uses.note(found, now);
      return caller;
    },
    async close() {
      unsubscribe();
      await uses.settled();
    },
  };
}

/** The keys that a key file may have; others need not be looked up. */
const BEARER = /^Bearer +([\x21-\x7e]{16,512})$/i;

export function bearerOf(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

/** Compares digests in constant time. The look-up has compared them too, in the time of an index. */
function sameDigest(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a, "hex"), Buffer.from(b, "hex")];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Throws `key_revoked` and `key_expired`. */
export function callerWith(key: KeyRecord, nowMs: number): Caller {
  const { tenant, workspace, principal, kind, keyId, roles, groups, scopes, revokedAtMs, expiresAtMs } = key;
  if (revokedAtMs !== undefined) throw new AppError("key_revoked", { revokedAt: isoOf(revokedAtMs) });
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
    throw new AppError("key_expired", { expiredAt: isoOf(expiresAtMs) });
  }
  return defined({ tenant, workspace, principal, kind, keyId, roles, groups, keyScopes: scopes });
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 43 characters of 62 are a little more than 256 bits. */
const LENGTH = 43;

/** A new key. Secret scanners recognize it by its prefix. */
export function newApiKey(): string {
  return `assay_${Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("")}`;
}

/** The stored form of a key. */
export function hashOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

interface KeyUses {
  /** Returns at once: a request neither waits for the note nor fails with it. */
  note(key: KeyRecord, nowMs: number): void;
  settled(): Promise<void>;
}

/**
 * Notes the use of keys: the time at most once per minute, the audit entry at the first use and then at most once per day, over all processes and
 * restarts. After a note that failed, the next use a minute later is noted.
 */
function keyUses({ store }: Pick<Host, "store">, onTrouble: (error: unknown) => void): KeyUses {
  const due = atMostEvery(MINUTE_MS);
  const underWay = new Set<Promise<void>>();

  async function write({ tenant, principal, keyId }: KeyRecord, nowMs: number): Promise<void> {
    const used = { type: "used", keyId, atMs: nowMs } as const;
    const audited = await store.commit({
      tenant,
      keys: [used],
      audit: [auditDraft({ principal, keyId }, nowMs, keyId, { action: "key.used", details: {} })],
      idempotency: onceOnly({ tenant, what: "key.used", subject: keyId, nowMs, forMs: DAY_MS }),
    });
    if (!audited.ok) await store.commit({ tenant, keys: [used] });
  }

  return {
    note(key, nowMs) {
      const last = key.lastUsedAtMs;
      const notedElsewhere = last !== undefined && nowMs >= last && nowMs - last < MINUTE_MS;
      if (notedElsewhere || !due(key.keyId, nowMs)) return;
      const writing = write(key, nowMs)
        .catch(onTrouble)
        .finally(() => underWay.delete(writing));
      underWay.add(writing);
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}
