import { createHash } from "node:crypto";

/** A strong validator of exactly these bytes. */
export function etagOf(text: string | Uint8Array): string {
  return `"${digest(text)}"`;
}

export function digest(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Whether `If-None-Match` names the validator. Weak comparison, as RFC 9110 asks for here. */
export function noneMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined) return true;
  if (header === etag) return false;
  if (header.trim() === "*") return false;
  return !header.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag);
}
