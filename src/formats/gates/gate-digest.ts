import { createHash } from "node:crypto";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import { maskFieldValues, type Secret } from "../../protocol/runs/sensitive.ts";
import { canonicalJson, sortedJson } from "../json/canonical-json.ts";

/** Members of an interrupt's data that name things or times: they differ between two visits that show the same content. */
const NAMES: ReadonlySet<string> = new Set(["artifactId", "branch", "gateId", "previous"]);

/**
 * SHA-256, in hex, of what an interrupt shows to a voter: its kind and its data, with the artifact as the last edit left it.
 * Values are masked first, as they are shown: a digest of a hidden value would let a reader test guesses of it.
 */
export function shownDigest(
  { kind, data, edited }: Pick<Interrupt, "kind" | "data" | "edited">,
  secrets: readonly Secret[] = [],
): string {
  const content = edited === undefined ? data : { ...data, artifactData: edited.data };
  const shown = Object.fromEntries(Object.entries(content).filter(([name]) => !NAMES.has(name)));
  return createHash("sha256")
    .update(textOf({ kind, data: maskFieldValues(shown, secrets) }))
    .digest("hex");
}

/** Canonical JSON, which has no form for a lone surrogate; a text with one is escaped instead. */
function textOf(shown: object): string {
  try {
    return canonicalJson(shown);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return sortedJson(shown);
  }
}

/** The id that an external event and the interrupt waiting for it share: a hash over the canonical JSON of the correlation. */
export function correlationIdOf(correlation: unknown): string {
  return createHash("sha256").update(canonicalJson(correlation)).digest("hex");
}
