import { timingSafeEqual } from "node:crypto";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { KeyRecord } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { ShortCache } from "../shared/short-cache.ts";
import { hashOfKey } from "./api-key.ts";
import { keyUses } from "./key-uses.ts";

export interface Authenticator {
  /**
   * The caller behind an `Authorization` header. Throws `unauthenticated`, the same for a header that is missing,
   * malformed or names a key nobody knows; `key_expired`; `key_revoked`.
   */
  authenticate(authorization: string | undefined): Promise<Caller>;
  readonly cacheMs: number;
  /** Stops listening for changes and waits for what is being noted in the background. */
  close(): Promise<void>;
}

interface AuthenticatorOptions {
  /** How long a process may go on believing what it read about a key when a notification got lost. */
  readonly cacheMs?: number;
  /** Told when a key's use could not be noted. The request went on all the same. */
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

/** What a key file may hold; anything else is in no store and need not be looked for. */
const BEARER = /^Bearer +([\x21-\x7e]{16,512})$/i;

export function bearerOf(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

/** The look-up already compared them, but in the time that an index takes; this one takes the same time for any two. */
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
  const bound = defined({ workspace });
  return { tenant, ...bound, principal, kind, keyId, roles, groups, keyScopes: scopes };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
