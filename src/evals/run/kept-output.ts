import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { cut } from "../score/difference.ts";
import { outputText } from "../score/output-text.ts";

/** In characters: enough to see what went wrong, and ten thousand of them still fit. */
export const KEPT_MAX = 20_000;

/** Secrets are taken out before the cut: the beginning of one alone looks like none. */
const LOOK_AHEAD = 4_096;

/** What is kept of an output for those who look into a failure. */
export function keptOutput(output: unknown, scrubber: Scrubber): unknown {
  const text = outputText(output);
  if (text.length <= KEPT_MAX) return scrubber.scrubValue(output);
  return cut(scrubber.scrubText(cut(text, KEPT_MAX + LOOK_AHEAD)), KEPT_MAX);
}
