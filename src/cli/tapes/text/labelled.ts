import type { Paint } from "../../output/io.ts";

const LABEL_WIDTH = 10;

/** Lines under a numbered heading; the label stands before the first of them only. */
export function labelled(label: string, lines: readonly string[], paint: Paint): string[] {
  return lines.map((line, i) => `   ${paint.dim((i === 0 ? label : "").padEnd(LABEL_WIDTH))}${line}`);
}
