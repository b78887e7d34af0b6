import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { type ExportChoice, exportChoice, exportedLine, isSelected } from "../../formats/tapes/export.ts";
import { redactRow } from "../../formats/tapes/scrub.ts";
import { Chains } from "../../formats/tapes/sidecar/current-rows.ts";
import { SidecarReader, sidecarUnreadable } from "../../formats/tapes/sidecar/read-sidecar.ts";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { type Bytes, loadLines } from "../../formats/text/lines.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import { processScrubber } from "../wiring/process-scrubber.ts";
import type { TAPE_EXPORT_FLAGS } from "./file-commands.ts";
import { emit, refuseInput } from "./files/place-output.ts";
import { type Spool, withSpool } from "./files/spool.ts";
import { watchedBytes } from "./files/tape-files.ts";

export async function exportRows(call: Call<typeof TAPE_EXPORT_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [path = ""] = args;
  const { output, latest, redact } = flags;
  const choice = exportChoice(path, flags.kind, flags.format);
  // An export cannot be loaded as a sidecar, so it must not replace one.
  if (output !== undefined) await refuseInput("--output", output, [path]);
  const scrubber = redact ? await processScrubber(config) : undefined;
  await withSpool(async (spool) => {
    const rows = new RowExport(choice, { latest, scrubber, now: new Date() }, spool);
    await rows.read(path, watchedBytes(path, io));
    await emit(rows.lines(), output, io);
    if (latest) reportLinks(rows, io);
    if (output === undefined) return;
    const { format } = choice;
    io.err(`[assay] exported ${rows.selected} annotation(s) to ${output} (format=${format})`);
    if (json) io.out(JSON.stringify({ file: output, annotations: rows.selected, format }));
  });
}

/** Reports the rows that --latest left out, and the links that name no row. */
function reportLinks({ replaced, loose }: RowExport, io: Call["io"]): void {
  if (replaced > 0) io.err(`[assay] left out ${formatCount(replaced, "annotation")} that a later one replaces`);
  if (loose === 0) return;
  io.err(
    `[assay] ${formatCount(loose, "link")} (metadata.supersedes) replaced nothing: no row above has that id and event`,
  );
}

interface ExportOptions {
  /** Leave out rows that a later one replaces. */
  readonly latest: boolean;
  readonly scrubber: Scrubber | undefined;
  /** For friction events without a time of their own. */
  readonly now: Date;
}

/** Makes the lines of an export while a sidecar is read. With `latest`, the ids of all rows are in memory; rows never are. */
class RowExport {
  readonly #choice: ExportChoice;
  readonly #options: ExportOptions;
  readonly #spool: Spool;
  readonly #chains = new Chains();
  /** The row of each line in the spool. */
  readonly #places: number[] = [];
  /** The number of selected rows, also of those without a line in this format. Final after the last line. */
  selected = 0;
  /** The number of selected rows that a later one replaces. */
  replaced = 0;

  constructor(choice: ExportChoice, options: ExportOptions, spool: Spool) {
    this.#choice = choice;
    this.#options = options;
    this.#spool = spool;
  }

  /** Throws `FileError` at the first line that is wrong. */
  async read(path: string, bytes: Bytes): Promise<void> {
    const reader: SidecarReader = new SidecarReader(path, (row) => this.#take(row, reader.header.tape_path));
    await loadLines(bytes, reader, (reason) => sidecarUnreadable(path, reason));
  }

  #take(row: Row, tapePath: string | null): void {
    const place = this.#options.latest ? this.#chains.add(row) : 0;
    if (!isSelected(this.#choice, row)) return;
    const line = this.#lineOf(row, tapePath);
    if (this.#options.latest) {
      // An empty line for a row without one in this format, so that lines and places have the same index.
      this.#places.push(place);
      this.#spool.add(`${line ?? ""}\n`);
      return;
    }
    this.selected++;
    if (line !== undefined) this.#spool.add(`${line}\n`);
  }

  #lineOf(row: Row, tapePath: string | null): string | undefined {
    const { scrubber, now } = this.#options;
    const { format } = this.#choice;
    if (!scrubber) return exportedLine(row, format, { tapePath, now });
    const cleanPath = tapePath === null ? null : scrubber.scrubText(tapePath);
    return exportedLine(redactRow(row, scrubber), format, { tapePath: cleanPath, now });
  }

  *lines(): Generator<string> {
    if (!this.#options.latest) {
      yield* this.#spool.texts();
      return;
    }
    let at = 0;
    for (const line of linesOf(this.#spool.texts())) {
      if (this.#chains.isReplaced(this.#places[at++] as number)) {
        this.replaced++;
        continue;
      }
      this.selected++;
      if (line !== "\n") yield line;
    }
  }

  /** The number of links that name no earlier row. */
  get loose(): number {
    return this.#chains.loose;
  }
}

/** Lines with their line feeds. */
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
