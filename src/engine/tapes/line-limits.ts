import { exceedsLimits, type JsonLimits } from "../../formats/json/check-json.ts";

/** Values and members of one line of a tape or a sidecar that is sent here. The format has no such bound: files are read without it. */
export const MAX_LINE_ELEMENTS = 100_000;

/** Nesting is bounded by the readers of both formats. */
const LIMITS: JsonLimits = { maxDepth: Number.POSITIVE_INFINITY, maxElements: MAX_LINE_ELEMENTS };

/** The limit that a line exceeds, found before anything is built from the line: each value takes many times its text in memory. */
export function lineExcess(line: string): string | undefined {
  // An element takes a character: most lines need not be encoded to be measured.
  return line.length <= MAX_LINE_ELEMENTS ? undefined : exceedsLimits(Buffer.from(line, "utf8"), LIMITS);
}
