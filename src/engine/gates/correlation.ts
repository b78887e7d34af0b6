import { createHash } from "node:crypto";
import { canonicalJson } from "../../formats/json/canonical-json.ts";

/** What an external event and the interrupt that waits for it have in common: a hash over the canonical JSON. */
export function correlationIdOf(correlation: unknown): string {
  return createHash("sha256").update(canonicalJson(correlation)).digest("hex");
}
