import { createHash, createHmac, randomBytes } from "node:crypto";

/** How deliveries are signed, as their header and discovery call it. */
export const SIGNATURE_ALGORITHM = "v1" as const;

/** The timestamp is signed as well, so that a delivery which was overheard cannot be sent again later. */
export function signatureOf(secret: string, timestamp: number, body: Buffer): string {
  return `sha256=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`;
}

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64url")}`;
}

/** Identifies a secret to those who know it: the first 8 hex digits of its SHA-256. */
export function fingerprintOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex").slice(0, 8);
}
