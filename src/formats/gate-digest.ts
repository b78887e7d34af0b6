import { createHash } from "node:crypto";
import type { Interrupt } from "../protocol/interrupt.ts";
import { sortedJson } from "./sorted-json.ts";

/**
 * The digest of what a gate shows to its voters: SHA-256 (hex) of the JSON, with sorted names, of its data and of the
 * edited artifact, if there is one. `data.previous` tells of an earlier visit, with ids and times, and is left out.
 */
export function shownDigest({ data, edited }: Pick<Interrupt, "data" | "edited">): string {
  const { previous: _, ...shown } = data;
  const text = sortedJson(edited === undefined ? { data: shown } : { data: shown, edited: edited.data });
  return createHash("sha256").update(text).digest("hex");
}
