import { readTape } from "../../formats/tapes/read-tape.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { printRow, printSidecarHeader } from "../../formats/tapes/sidecar/sidecar.ts";
import { printTapeHeader, printTapeRecord } from "../../formats/tapes/tape.ts";
import type { Call } from "../program/command.ts";
import type { NORMALIZE_FLAGS } from "./commands/export.ts";
import { emit } from "./files/emit.ts";
import { watchedBytes } from "./files/file-bytes.ts";
import { type Spool, withSpool } from "./files/spool.ts";
import { type Peeked, peek } from "./files/which-file.ts";

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
