import { exportChoice } from "../../formats/tapes/export.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import { processScrubber } from "../wiring/process-scrubber.ts";
import type { TAPE_EXPORT_FLAGS } from "./commands/export.ts";
import { emit } from "./files/emit.ts";
import { watchedBytes } from "./files/file-bytes.ts";
import { RowExport } from "./files/row-export.ts";
import { refuseInput } from "./files/same-file.ts";
import { withSpool } from "./files/spool.ts";

export async function exportRows({
  args,
  flags,
  json,
  config,
  io,
}: Call<typeof TAPE_EXPORT_FLAGS>): Promise<undefined> {
  const [path = ""] = args;
  const { output, latest, redact } = flags;
  const choice = exportChoice(path, flags.kind, flags.format);
  // An export is no sidecar: nobody could load it in place of one.
  if (output !== undefined) await refuseInput("--output", output, [path]);
  const scrubber = redact ? await processScrubber(config) : undefined;
  await withSpool(async (spool) => {
    const rows = new RowExport(choice, { latest, scrubber, now: new Date() }, spool);
    await rows.read(path, watchedBytes(path, io));
    await emit(rows.lines(), output, io);
    if (latest) tellOfLinks(rows, io);
    if (output === undefined) return;
    const { format } = choice;
    io.err(`[assay] exported ${rows.selected} annotation(s) to ${output} (format=${format})`);
    if (json) io.out(JSON.stringify({ file: output, annotations: rows.selected, format }));
  });
}

/** What --latest left out, and what it could not follow: no row is missing without a word. */
function tellOfLinks({ replaced, loose }: RowExport, io: Call["io"]): void {
  if (replaced > 0) io.err(`[assay] left out ${formatCount(replaced, "annotation")} that a later one replaces`);
  if (loose === 0) return;
  io.err(
    `[assay] ${formatCount(loose, "link")} (metadata.supersedes) replaced nothing: no row above has that id and event`,
  );
}
