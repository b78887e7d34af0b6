import { readSidecar } from "../../formats/sidecar/read-sidecar.ts";
import { printRow, printSidecarHeader } from "../../formats/sidecar/sidecar.ts";
import { readTape } from "../../formats/tape/read-tape.ts";
import { printTapeHeader, printTapeRecord } from "../../formats/tape/tape.ts";
import type { Call } from "../command.ts";
import type { NORMALIZE_FLAGS } from "../specs/tape-export.ts";
import { emit } from "../tape/emit.ts";
import { watchedBytes } from "../tape/file-bytes.ts";
import { type Spool, withSpool } from "../tape/spool.ts";
import { type Peeked, peek } from "../tape/which-file.ts";

export async function normalize({ args, flags, json, io }: Call<typeof NORMALIZE_FLAGS>): Promise<undefined> {
  const [path = ""] = args;
  const { output } = flags;
  await withSpool(async (spool) => {
    const file = await peek(path, watchedBytes(path, io));
    const lines = { written: 1 };
    const add = (line: string) => {
      lines.written++;
      spool.add(`${line}\n`);
    };
    const header = await readBody(path, file, add);
    await emit(withHeader(header, spool), output, io);
    if (output !== undefined && json)
      io.out(JSON.stringify({ file: output, format: file.format, lines: lines.written }));
  });
}

/** Hands on every line but the header, which is known for good only when the file has been read, and returned. */
async function readBody(path: string, { format, bytes }: Peeked, add: (line: string) => void): Promise<string> {
  if (format === "tape") return printTapeHeader(await readTape(path, bytes, (record) => add(printTapeRecord(record))));
  return printSidecarHeader(await readSidecar(path, bytes, (row) => add(printRow(row))));
}

function* withHeader(header: string, body: Spool): Generator<string> {
  yield `${header}\n`;
  yield* body.texts();
}
