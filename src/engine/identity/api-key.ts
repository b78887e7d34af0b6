import { createHash, randomInt } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 43 characters of 62 are a little more than 256 bits. */
const LENGTH = 43;

/** The prefix lets secret scanners know one when they see it. */
export function newApiKey(): string {
  return `assay_${Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("")}`;
}

/** All that is ever kept of a key. */
export function hashOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
