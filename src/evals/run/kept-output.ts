import type { Scrubber } from "../../formats/scrub.ts";
import { cut } from "../score/difference.ts";
import { outputText } from "../score/output-text.ts";

/** In characters: enough to see what went wrong, and ten thousand of them still fit. */
export const KEPT_MAX = 20_000;

/** What is kept of an output for those who look into a failure. */
export function keptOutput(output: unknown, scrubber: Scrubber): unknown {
  const text = outputText(output);
  return text.length > KEPT_MAX ? scrubber.scrubText(cut(text, KEPT_MAX)) : scrubber.scrubValue(output);
}
