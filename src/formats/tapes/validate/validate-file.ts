import { UNSURE } from "../../json/skim-string.ts";
import { type LinesReader, type LoadOptions, lineText, loadWindows } from "../../text/line-window.ts";
import type { Bytes } from "../../text/load-lines.ts";
import { SidecarReader, sidecarUnreadable } from "../sidecar/read-sidecar.ts";
import { skimRow } from "../sidecar/skim-row.ts";
import { SkimmedRow } from "../sidecar/skimmed-row.ts";
import type { TapeFacts } from "../tape-facts.ts";
import { Validation, type Verdict } from "./validate.ts";

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

export interface ValidateOptions extends LoadOptions {
  /** The seed of the table of ids: an unpredictable one keeps crafted ids from slowing it down. */
  readonly seed?: number;
}

/** Judges a sidecar as it arrives; see `Validation`. Throws `FileError` when it does not load. */
export async function validateSidecar(
  path: string,
  bytes: Bytes,
  tape: TapeFacts,
  options: ValidateOptions = {},
): Promise<Verdict> {
  const validation = await Validation.start(tape, options.seed);
  const reader = new SidecarReader(path, (row, line) => validation.row(row, line));
  await loadWindows(bytes, new RowLines(reader, validation), (reason) => sidecarUnreadable(path, reason), options);
  return validation.end(reader.header, reader.headerLine);
}

/** Ordinary rows are skimmed; every other line goes to the exact reader, which also says what is wrong with it. */
class RowLines implements LinesReader {
  readonly #reader: SidecarReader;
  readonly #validation: Validation;
  readonly #row = new SkimmedRow();

  constructor(reader: SidecarReader, validation: Validation) {
    this.#reader = reader;
    this.#validation = validation;
  }

  lines(bytes: Uint8Array, end: number): void {
    const row = this.#row;
    let at = 0;
    while (at < end) {
      const next = this.#reader.headerLine === 0 ? UNSURE : this.#skimmed(bytes, at);
      if (next === UNSURE) {
        const feed = bytes.indexOf(LINE_FEED, at);
        this.#reader.line(lineText(bytes, at, feed));
        at = feed + 1;
      } else {
        this.#validation.skimmedRow(row, this.#reader.countRow());
        at = next;
      }
    }
  }

  end(): void {
    this.#reader.end();
  }

  /** Where the next line begins. */
  #skimmed(bytes: Uint8Array, at: number): number {
    this.#row.clear(bytes);
    const end = skimRow(this.#row, bytes, at);
    if (end === UNSURE) return UNSURE;
    if (bytes[end] === LINE_FEED) return end + 1;
    return bytes[end] === CARRIAGE_RETURN && bytes[end + 1] === LINE_FEED ? end + 2 : UNSURE;
  }
}
