import { existsSync, readFileSync, statSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { isSuiteRef } from "../../evals/suite/suite-ref.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { Proof } from "../../protocol/evals/suite-api.ts";
import { withFileLock } from "../files/file-lock.ts";
import { writeWhole } from "../files/write-file.ts";
import type { Paint } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";

export type SuiteTarget =
  | { readonly type: "kept"; readonly ref?: string }
  | { readonly type: "file"; readonly file: string; readonly text: string }
  | { readonly type: "new"; readonly file: string; readonly suiteId: string };

/** `--to` is a file, or the id of a suite that is kept where the run is. */
export function suiteTarget(to: string | undefined, newId: string | undefined): SuiteTarget {
  if (to === undefined || (!existsSync(to) && isSuiteRef(to))) {
    if (newId !== undefined)
      throw unusableInput("--id names the suite that a new file begins; give the file with --to FILE");
    return to === undefined ? { type: "kept" } : { type: "kept", ref: to };
  }
  if (!existsSync(to)) {
    if (newId !== undefined) return { type: "new", file: to, suiteId: newId };
    throw unusableInput(
      `${to} does not exist; to begin a suite there, name it with --id, like acme.support.evals.refunds`,
    );
  }
  if (newId !== undefined) throw unusableInput(`${to} is a suite already; leave out --id`);
  return { type: "file", file: to, text: read(to) };
}

function read(file: string): string {
  try {
    if (statSync(file).isDirectory()) throw new Error("it is a folder");
    return readFileSync(file, "utf8");
  } catch (error) {
    throw unusableInput(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** The file with the links of tasks to their runs, one JSON object in each line: the format of suites has no member for them. */
export function linksBeside(file: string): string {
  return `${file}.links.jsonl`;
}

/** Replaces the file by the new version and appends the links. Refused where the file has changed since it was read. */
export async function writeSuite(
  target: Extract<SuiteTarget, { file: string }>,
  text: string,
  links: readonly object[],
): Promise<void> {
  const { file } = target;
  await withFileLock(file, async () => {
    const now = existsSync(file) ? read(file) : undefined;
    if (now !== (target.type === "file" ? target.text : undefined)) {
      throw unusableInput(`${file} has changed meanwhile and was left alone; try again`);
    }
    await writeWhole(file, [text]);
    await appendFile(linksBeside(file), links.map((link) => `${JSON.stringify(link)}\n`).join(""));
  });
}

const LINES_SHOWN = 16;
const LINE_CHARACTERS = 400;

export type ProofOutcome = Pick<Proof, "passed" | "difference">;

interface TaskProof {
  readonly recorded: ProofOutcome;
  /** Absent where the recorded answer was confirmed. */
  readonly correction?: ProofOutcome | undefined;
}

/** The proof that a task tells right from wrong: how it scores the recorded answer and the correction. */
export function proofText({ recorded, correction }: TaskProof, paint: Paint): string {
  const lines = [`${outcome(recorded, paint)} on the recorded answer`, ...differenceText(recorded, paint)];
  if (correction === undefined) return lines.join("\n");
  return [...lines, `${outcome(correction, paint)} on the correction`, ...differenceText(correction, paint)].join("\n");
}

function outcome({ passed }: ProofOutcome, paint: Paint): string {
  return passed ? `  ${paint.green("passes")}` : `  ${paint.red("fails")} `;
}

function differenceText({ difference = [] }: ProofOutcome, paint: Paint): string[] {
  const shown = difference.slice(0, LINES_SHOWN).map((line) => `      ${shorten(printable(line), LINE_CHARACTERS)}`);
  const left = difference.length - shown.length;
  return left > 0 ? [...shown, paint.dim(`      … and ${left} more lines`)] : shown;
}
