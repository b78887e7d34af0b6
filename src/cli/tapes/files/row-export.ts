import type { Scrubber } from "../../../formats/secrets/scrub.ts";
import { type ExportChoice, exportedLine, isSelected } from "../../../formats/tapes/export.ts";
import { redactRow } from "../../../formats/tapes/scrub.ts";
import { Chains } from "../../../formats/tapes/sidecar/current-rows.ts";
import { SidecarReader, sidecarUnreadable } from "../../../formats/tapes/sidecar/read-sidecar.ts";
import type { Row } from "../../../formats/tapes/sidecar/sidecar.ts";
import { type Bytes, loadLines } from "../../../formats/text/load-lines.ts";
import type { Spool } from "./spool.ts";

export interface ExportManner {
  /** Only rows that no later one replaces. */
  readonly latest: boolean;
  readonly scrubber: Scrubber | undefined;
  /** For friction events without a time of their own. */
  readonly now: Date;
}

/**
 * Makes the lines of an export while a sidecar is read, and gives them out when it has been read to its end. Rows are never held: for
 * `latest` their ids are.
 */
export class RowExport {
  readonly #choice: ExportChoice;
  readonly #manner: ExportManner;
  readonly #spool: Spool;
  readonly #chains = new Chains();
  /** For each line in the spool, which row it came from. */
  readonly #places: number[] = [];
  #selected = 0;
  #replaced = 0;

  constructor(choice: ExportChoice, manner: ExportManner, spool: Spool) {
    this.#choice = choice;
    this.#manner = manner;
    this.#spool = spool;
  }

  /** Throws `FileError` at the first line that is wrong. */
  async read(path: string, bytes: Bytes): Promise<void> {
    const reader: SidecarReader = new SidecarReader(path, (row) => this.#take(row, reader.header.tape_path));
    await loadLines(bytes, reader, (reason) => sidecarUnreadable(path, reason));
  }

  #take(row: Row, tapePath: string | null): void {
    const place = this.#manner.latest ? this.#chains.add(row) : 0;
    if (!isSelected(this.#choice, row)) return;
    const line = this.#lineOf(row, tapePath);
    if (this.#manner.latest) {
      // A line for every row, also for those that have nothing to say in this format, so that lines and places go together.
      this.#places.push(place);
      this.#spool.add(`${line ?? ""}\n`);
      return;
    }
    this.#selected++;
    if (line !== undefined) this.#spool.add(`${line}\n`);
  }

  #lineOf(row: Row, tapePath: string | null): string | undefined {
    const { scrubber, now } = this.#manner;
    const { format } = this.#choice;
    if (!scrubber) return exportedLine(row, format, { tapePath, now });
    const cleanPath = tapePath === null ? null : scrubber.scrubText(tapePath);
    return exportedLine(redactRow(row, scrubber), format, { tapePath: cleanPath, now });
  }

  *lines(): Generator<string> {
    if (!this.#manner.latest) {
      yield* this.#spool.texts();
      return;
    }
    let at = 0;
    for (const line of linesOf(this.#spool.texts())) {
      if (this.#chains.isReplaced(this.#places[at++] as number)) {
        this.#replaced++;
        continue;
      }
      this.#selected++;
      if (line !== "\n") yield line;
    }
  }

  /** How many rows were asked for, also those that the format has no words for. Known when all lines have been given out. */
  get selected(): number {
    return this.#selected;
  }

  /** How many of the rows that were asked for were left out because a later one replaces them. */
  get replaced(): number {
    return this.#replaced;
  }

  /** How many links name no earlier row. */
  get loose(): number {
    return this.#chains.loose;
  }
}

/** Each with its end. */
function* linesOf(texts: Iterable<string>): Generator<string> {
  let open = "";
  for (const text of texts) {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      yield open + text.slice(start, end + 1);
      open = "";
      start = end + 1;
    }
    open += text.slice(start);
  }
}
