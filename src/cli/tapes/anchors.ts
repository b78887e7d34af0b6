import { printFreeForm } from "../../formats/json/print-json.ts";
import { firstLine } from "../../formats/tapes/show.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { type Anchor, anchorOf, printAnchor } from "../../formats/tapes/sidecar/sidecar.ts";
import { authorText } from "../output/describe-record.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { ANCHORS_FLAGS } from "./file-commands.ts";
import { loadEach, sidecarFiles } from "./files/find-files.ts";
import { emit } from "./files/place-output.ts";
import { type Spool, withSpool } from "./files/spool.ts";
import { watchedBytes } from "./files/tape-files.ts";

export async function anchors({ args, flags, json, io }: Call<typeof ANCHORS_FLAGS>): Promise<number> {
  const [path = ""] = args;
  const { paths, many } = await sidecarFiles(path);
  return withSpool(async (spool) => {
    let found = 0;
    const skipped = await loadEach(paths, { skipBroken: flags.skipBroken && many, io }, async (file) => {
      const where = many ? file : undefined;
      const texts: string[] = [];
      await readSidecar(file, watchedBytes(file, io), (row) => {
        const anchor = anchorOf(row);
        if (anchor) texts.push(json ? printAnchor(anchor, where) : `${anchorText(anchor, where, io)}\n`);
      });
      for (const text of texts) {
        spool.add(json && found > 0 ? `,\n${text}` : text);
        found++;
      }
    });
    await emit(json ? inList(spool) : spool.texts(), undefined, io);
    if (found === 0) io.err(`[assay] no annotation of kind crystallize_here in ${printable(path)}`);
    return skipped.length === 0 ? EXIT.fine : EXIT.invalid;
  });
}

function* inList(spool: Spool): Generator<string> {
  yield "[";
  yield* spool.texts();
  yield "]\n";
}

/** An anchor on one line: the events, the evidence, the author and the metadata. */
function anchorText(
  { event_id, end_event_id, evidence, author, metadata }: Anchor,
  file: string | undefined,
  io: Io,
): string {
  const { paint } = io;
  const stretch = event_id === end_event_id ? `event ${event_id}` : `events ${event_id} to ${end_event_id}`;
  const parts = [
    ...(file === undefined ? [] : [paint.dim(printable(file))]),
    paint.bold(stretch),
    evidence === null || evidence === "" ? paint.dim("(no evidence)") : printable(firstLine(evidence)),
    ...(author === null ? [] : [authorText(author)]),
    ...(metadata.size === 0 ? [] : [paint.dim(printable(printFreeForm(metadata)))]),
  ];
  return parts.join("  ");
}
