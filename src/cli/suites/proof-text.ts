import type { Proof } from "../../protocol/evals/suite-growth.ts";
import type { Paint } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";

const LINES_SHOWN = 16;
const LINE_CHARACTERS = 400;

/** What shows that a task tells right from wrong. */
export function proofText({ recorded, correction }: { recorded: Proof; correction?: Proof }, paint: Paint): string {
  const lines = [`${outcome(recorded, paint)} on the recorded answer`, ...differenceText(recorded, paint)];
  if (correction === undefined) return lines.join("\n");
  return [...lines, `${outcome(correction, paint)} on the correction`, ...differenceText(correction, paint)].join("\n");
}

function outcome({ passed }: Proof, paint: Paint): string {
  return passed ? `  ${paint.green("passes")}` : `  ${paint.red("fails")} `;
}

function differenceText({ difference = [] }: Proof, paint: Paint): string[] {
  const shown = difference.slice(0, LINES_SHOWN).map((line) => `      ${shorten(printable(line), LINE_CHARACTERS)}`);
  const left = difference.length - shown.length;
  return left > 0 ? [...shown, paint.dim(`      … and ${left} more lines`)] : shown;
}
