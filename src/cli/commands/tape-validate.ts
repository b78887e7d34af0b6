import { isUtf8 } from "node:buffer";
import { randomInt } from "node:crypto";
import { FileError } from "../../formats/file-error.ts";
import type { Verdict } from "../../formats/sidecar/validate.ts";
import { validateSidecar } from "../../formats/sidecar/validate-file.ts";
import { printReport } from "../../formats/sidecar/validate-report.ts";
import { isLoadError } from "../../formats/sidecar/validate-sarif.ts";
import { readTapeFacts } from "../../formats/tape/tape-facts.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Call } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import type { FindingFormat, VALIDATE_FLAGS } from "../specs/tape-check.ts";
import { emit } from "../tape/emit.ts";
import { watchedBytes } from "../tape/file-bytes.ts";
import { FINDING_PRINTERS } from "../tape/finding-output.ts";
import { refuseInput } from "../tape/same-file.ts";
import { writeOutput } from "../tape/write-output.ts";

export async function validateTape({ args, flags, json, io }: Call<typeof VALIDATE_FLAGS>): Promise<number> {
  const [path = ""] = args;
  const { tape, report } = flags;
  const format = (flags.format ?? "report") as FindingFormat;
  if (tape === undefined) throw new AppError("unusable_input", { problem: "--tape TAPE is missing" });
  if (json && format !== "report") {
    throw new AppError("unusable_input", { problem: "--json prints the report, so it does not go with --format" });
  }
  if (report !== undefined) await refuseInput("--report", report, [tape, path]);
  const printer = FINDING_PRINTERS[format];
  let verdict: Verdict;
  try {
    verdict = await judge(tape, path, io);
  } catch (error) {
    if (error instanceof FileError && isLoadError(error)) await emit(printer.loadError(error), undefined, io);
    throw error;
  }
  if (report !== undefined) await writeReport(report, verdict, io);
  if (report === undefined || format !== "report") await emit(printer.verdict(path, verdict), undefined, io);
  return verdict.findings.length === 0 ? EXIT.fine : EXIT.invalid;
}

/** The tape first: what is wrong with it hides what is wrong with the sidecar. */
async function judge(tape: string, sidecar: string, io: Io): Promise<Verdict> {
  const facts = await readTapeFacts(tape, watchedBytes(tape, io), { isUtf8 });
  return validateSidecar(sidecar, watchedBytes(sidecar, io), facts, { isUtf8, seed: randomInt(2 ** 32) });
}

async function writeReport(file: string, verdict: Verdict, io: Io): Promise<void> {
  await writeOutput(file, printReport(verdict));
  const { checked, findings } = verdict;
  io.err(`[assay] annotations validation: checked=${checked} problems=${findings.length} (${file})`);
}
