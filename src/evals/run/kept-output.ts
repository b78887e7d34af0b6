import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { cut } from "../score/difference.ts";
import { outputText } from "../score/output-text.ts";

/** In characters: enough to see an error, and ten thousand of them still fit. */
export const KEPT_MAX = 20_000;

/** Secrets are removed before the cut: the beginning of a secret alone is not recognized. */
const LOOK_AHEAD = 4_096;

/** The part of an output that is kept for the analysis of a failure. */
export function keptOutput(output: unknown, scrubber: Scrubber): unknown {
  const text = outputText(output);
  if (text.length <= KEPT_MAX) return scrubber.scrubValue(output);
  return cut(scrubber.scrubText(cut(text, KEPT_MAX + LOOK_AHEAD)), KEPT_MAX);
}
