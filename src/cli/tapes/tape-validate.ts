import { isUtf8 } from "node:buffer";
import { randomInt } from "node:crypto";
import { readTapeFacts } from "../../formats/tapes/tape-facts.ts";
import { isLoadError, printReport } from "../../formats/tapes/validate/print-findings.ts";
import type { Verdict } from "../../formats/tapes/validate/validate.ts";
import { validateSidecar } from "../../formats/tapes/validate/validate.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { AppError } from "../../protocol/errors.ts";
import { writeOutput } from "../files/write-file.ts";
import type { Io } from "../output/io.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { FindingFormat, VALIDATE_FLAGS } from "./commands/check.ts";
import { emit } from "./files/emit.ts";
import { watchedBytes } from "./files/file-bytes.ts";
import { refuseInput } from "./files/same-file.ts";
import { FINDING_PRINTERS } from "./text/finding-output.ts";

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
