import { createHash } from "node:crypto";
import type { Interrupt } from "../protocol/interrupt.ts";
import { maskFieldValues, type Secret } from "../protocol/sensitive.ts";
import { sortedJson } from "./sorted-json.ts";

/** Members of an interrupt's data that name things or times: they differ between two visits that show the same content. */
const NAMES: ReadonlySet<string> = new Set(["artifactId", "gateId", "previous"]);

/**
 * SHA-256, in hex, of what an interrupt shows to a voter: its kind and its data, with the artifact as the last edit left it.
 * Values are masked first, as they are shown: a digest of a hidden value would let a reader test guesses of it.
 */
export function shownDigest(
  { kind, data, edited }: Pick<Interrupt, "kind" | "data" | "edited">,
  secrets: readonly Secret[] = [],
): string {
  const content = edited === undefined ? data : { ...data, artifactData: edited.data };
  const shown = Object.entries(content).filter(([name]) => !NAMES.has(name));
  return createHash("sha256")
    .update(sortedJson({ kind, data: maskFieldValues(Object.fromEntries(shown), secrets) }))
    .digest("hex");
}
