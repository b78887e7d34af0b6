import { isUtf8 } from "node:buffer";
import { SidecarReader, sidecarUnreadable } from "../formats/tapes/sidecar/read-sidecar.ts";
import type { TapeFacts } from "../formats/tapes/tape-facts.ts";
import { printReport } from "../formats/tapes/validate/print-findings.ts";
import { Validation, type Verdict, validateSidecar } from "../formats/tapes/validate/validate.ts";
import { FileError } from "../formats/text/file-error.ts";
import { type Bytes, loadLines } from "../formats/text/lines.ts";

/** All that can be seen of a validation: the report and where its problems are, or why there is none. */
export type Outcome =
  | { readonly report: string; readonly lines: readonly number[] }
  | { readonly code: string; readonly message: string; readonly place: unknown };

/** Every line by the exact reader. */
export function exactly(bytes: Bytes, tape: TapeFacts): Promise<Outcome> {
  return outcomeOf(async () => {
    const validation = await Validation.start(tape);
    const reader = new SidecarReader("s.jsonl", (row, line) => validation.row(row, line));
    await loadLines(bytes, reader, (reason) => sidecarUnreadable("s.jsonl", reason));
    return validation.end(reader.header, reader.headerLine);
  });
}

/** As the product does it. */
export function quickly(bytes: Bytes, tape: TapeFacts, isNative = true): Promise<Outcome> {
  return outcomeOf(() => validateSidecar("s.jsonl", bytes, tape, isNative ? { isUtf8, seed: 7 } : {}));
}

async function outcomeOf(validating: () => Promise<Verdict>): Promise<Outcome> {
  try {
    const verdict = await validating();
    return { report: [...printReport(verdict)].join(""), lines: [...verdict.findings].map(({ line }) => line) };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { code: error.code, message: error.message, place: error.place };
  }
}
