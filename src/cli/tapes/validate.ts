import { isUtf8 } from "node:buffer";
import { randomInt } from "node:crypto";
import { isAbsolute, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { readTapeFacts } from "../../formats/tapes/tape-facts.ts";
import {
  isLoadError,
  printGithub,
  printGithubError,
  printReport,
  printSarif,
  printSarifError,
} from "../../formats/tapes/validate/print-findings.ts";
import { explainProblem } from "../../formats/tapes/validate/problems.ts";
import { type Verdict, validateSidecar } from "../../formats/tapes/validate/validate.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { writeOutput } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { packageVersion } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { FindingFormat, VALIDATE_FLAGS } from "./file-commands.ts";
import { emit, refuseInput } from "./files/place-output.ts";
import { watchedBytes } from "./files/tape-files.ts";

export async function validateTape({ args, flags, json, io }: Call<typeof VALIDATE_FLAGS>): Promise<number> {
  const [path = ""] = args;
  const { tape, report } = flags;
  const format = (flags.format ?? "report") as FindingFormat;
  if (tape === undefined) throw unusableInput("--tape TAPE is missing");
  if (json && format !== "report") throw unusableInput("--json prints the report, so it does not go with --format");
  if (report !== undefined) await refuseInput("--report", report, [tape, path]);
  const printer = FINDING_PRINTERS[format];
  let verdict: Verdict;
  try {
    verdict = await validate(tape, path, io);
  } catch (error) {
    if (error instanceof FileError && isLoadError(error)) await emit(printer.loadError(error), undefined, io);
    throw error;
  }
  if (report !== undefined) await writeReport(report, verdict, io);
  if (report === undefined || format !== "report") await emit(printer.verdict(path, verdict), undefined, io);
  return verdict.findings.length === 0 ? EXIT.fine : EXIT.invalid;
}

/** Reads the tape first: its errors come before those of the sidecar. */
async function validate(tape: string, sidecar: string, io: Io): Promise<Verdict> {
  const facts = await readTapeFacts(tape, watchedBytes(tape, io), { isUtf8 });
  return validateSidecar(sidecar, watchedBytes(sidecar, io), facts, { isUtf8, seed: randomInt(2 ** 32) });
}

async function writeReport(file: string, verdict: Verdict, io: Io): Promise<void> {
  await writeOutput(file, printReport(verdict));
  const { checked, findings } = verdict;
  io.err(`[assay] annotations validation: checked=${checked} problems=${findings.length} (${file})`);
}

interface FindingPrinter {
  verdict(path: string, verdict: Verdict): Iterable<string>;
  /** The output for a file that does not load. */
  loadError(error: FileError): Iterable<string>;
}

/** The formats of problems on standard output, each with its last line feed. */
const FINDING_PRINTERS: Readonly<Record<FindingFormat, FindingPrinter>> = {
  report: { verdict: reportWithEnd, loadError: () => [] },
  github: { verdict: printGithub, loadError: (error) => [printGithubError(error)] },
  sarif: {
    verdict: (path, verdict) => printSarif(path, verdict, { version: packageVersion(), uriOf }),
    loadError: (error) => printSarifError(error, { version: packageVersion(), uriOf }),
  },
  text: { verdict: printText, loadError: () => [] },
};

function* reportWithEnd(_path: string, verdict: Verdict): Generator<string> {
  yield* printReport(verdict);
  yield "\n";
}

/** A line for each problem, in a form that editors and terminals turn into links, and the number of problems. */
function* printText(path: string, { checked, findings }: Verdict): Generator<string> {
  for (const { problem, line } of findings) {
    yield `${path}:${line}: ${problem.code}: ${printable(explainProblem(problem))}\n`;
  }
  const problems = findings.length === 0 ? "no problems" : formatCount(findings.length, "problem");
  yield `${path}: ${formatCount(checked, "annotation")} checked, ${problems}\n`;
}

/** A relative path stays relative: viewers of SARIF resolve it from the root of the repository. */
function uriOf(path: string): string {
  if (isAbsolute(path)) return pathToFileURL(path).href;
  return path.split(sep).map(encodeURIComponent).join("/");
}
