import { createHmac, timingSafeEqual } from "node:crypto";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { instantMs } from "../../protocol/instant.ts";
import { matches, type Static, Type } from "../../protocol/schema.ts";

/**
 * A token is the credential for one interrupt of one run: `base64url(payload) "." base64url(HMAC-SHA256(secret, payload
 * part))`. The payload is not parsed before its MAC has been verified.
 */
export interface InterruptTokens {
  /** How long a token is valid when its interrupt does not end sooner. */
  readonly ttlMs: number;
  mint(claims: NewClaims): string;
  /**
   * Throws `interrupt_not_found` for every text that is no token of this host, whatever its form, and
   * `interrupt_expired` for an expired token of this host.
   */
  read(token: string): Claims;
}

const TOKEN_INTENTS = ["resolve", "inspect"] as const;

const Id = Type.String({ minLength: 1, maxLength: 128 });
const Claims = Type.Object(
  {
    runId: Id,
    nodeId: Id,
    interruptId: Id,
    /** How often the artifact was edited when the link was made. Links from before it was written lack it. */
    revision: Type.Optional(Type.Integer({ minimum: 0 })),
    expiresAt: Type.String({ maxLength: 40 }),
    intent: Type.Enum([...TOKEN_INTENTS]),
    kid: Id,
  },
  { additionalProperties: false },
);
export type Claims = Static<typeof Claims>;
export type NewClaims = Omit<Claims, "kid">;

export interface TokenKey {
  /** Names the key inside the token, so that a key which left the list is not confused with its successor. */
  readonly kid: string;
  readonly secret: string;
}

interface TokenSettings {
  /** The first signs, all verify: that is how a key is replaced without cutting off tokens that are out there. */
  readonly keys: readonly [TokenKey, ...TokenKey[]];
  readonly nowMs: () => number;
  readonly ttlMs?: number;
}

const TOKEN_TTL_MS = 1_800_000;
/** Room for the longest name a node can have: 128 control characters, which JSON writes with six letters each. */
export const MAX_TOKEN_LENGTH = 1600;

const SHAPE = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

export function tokenKeys({ keys, nowMs, ttlMs = TOKEN_TTL_MS }: TokenSettings): InterruptTokens {
  const [signing] = keys;
  return {
    ttlMs,
    mint({ runId, nodeId, interruptId, revision, expiresAt, intent }) {
      const edits = defined({ revision });
      const claims: Claims = { runId, nodeId, interruptId, ...edits, expiresAt, intent, kid: signing.kid };
      const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
      const token = `${payload}.${macOf(signing, payload)}`;
      if (token.length > MAX_TOKEN_LENGTH) throw tooLong();
      return token;
    },
    read(token) {
      const [, payload, mac] = token.length > MAX_TOKEN_LENGTH ? [] : (SHAPE.exec(token) ?? []);
      if (payload === undefined || mac === undefined) throw unknown();
      const signers = keys.filter((key) => sameText(macOf(key, payload), mac));
      if (signers.length === 0) throw unknown();
      const claims = claimsOf(payload);
      if (!signers.some(({ kid }) => kid === claims.kid)) throw unknown();
      const expiresAtMs = instantMs(claims.expiresAt);
      if (expiresAtMs === undefined) throw unknown();
      if (expiresAtMs <= nowMs()) throw new AppError("interrupt_expired", { expiredAt: claims.expiresAt });
      return claims;
    },
  };
}

function macOf({ secret }: TokenKey, payload: string): string {
  return createHmac("sha256", secret).update(payload).digest("base64url");
}

/** In the same time for any two texts of one length; the length of a MAC is no secret. */
function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Claims are checked although they are signed: another holder of the secret may sign anything. */
function claimsOf(payload: string): Claims {
  let claims: unknown;
  try {
    claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  } catch {}
  if (!matches(Claims, claims)) throw unknown();
  return claims;
}

/** One error for malformed, forged and unknown tokens, so that it reveals nothing. The token is a credential and is not repeated. */
function unknown(): AppError {
  return new AppError("interrupt_not_found");
}

function tooLong(): AppError {
  return validationError("the interrupt's names are too long for a token");
}
