import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { AppError } from "../../protocol/errors.ts";

/**
 * A recorded reply that holds a secret, sealed with the API key of the caller: AES-256-GCM under a key that HKDF derives from it. The host keeps
 * a hash of API keys only, so a stored reply is opened by a repetition of the request with the same API key and by nothing else.
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
