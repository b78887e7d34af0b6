import { type Json, JsonObject, readJson } from "../../formats/json/exact-json.ts";
import { readTape } from "../../formats/tapes/read-tape.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { printRow, printSidecarHeader } from "../../formats/tapes/sidecar/sidecar.ts";
import { printTapeHeader, printTapeRecord } from "../../formats/tapes/tape.ts";
import { trimSpace } from "../../formats/text/lines.ts";
import type { Call } from "../program/command.ts";
import type { NORMALIZE_FLAGS } from "./file-commands.ts";
import { emit } from "./files/place-output.ts";
import { type Spool, withSpool } from "./files/spool.ts";
import { watchedBytes } from "./files/tape-files.ts";

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

/** Passes on every line but the header, which is complete only at the end of the file, and is returned. */
async function readBody(path: string, { format, bytes }: Peeked, add: (line: string) => void): Promise<string> {
  if (format === "tape") return printTapeHeader(await readTape(path, bytes, (record) => add(printTapeRecord(record))));
  return printSidecarHeader(await readSidecar(path, bytes, (row) => add(printRow(row))));
}

function* withHeader(header: string, body: Spool): Generator<string> {
  yield `${header}\n`;
  yield* body.texts();
}

export async function printDigest({ args, json, io }: Call): Promise<undefined> {
  const [path = ""] = args;
  const { TapeDigest } = await import("../../formats/tapes/digest.ts");
  const digest = await TapeDigest.start();
  let records = 0;
  await readTape(path, watchedBytes(path, io), (record) => {
    digest.add(record);
    records++;
  });
  const hex = digest.hex();
  io.out(json ? JSON.stringify({ tape_content_hash: hex, records }) : hex);
}

type FileFormat = "tape" | "sidecar";

/** The name decides for a file whose lines do not. */
const SIDECAR_NAME = /\.jsonl$/i;

/**
 * Whether a file is a tape or a sidecar, so that its errors are those of its format. Decided by the first line that can be in only one
 * of them.
 */
export function formatOf(beginning: string, name: string): FileFormat {
  for (const line of beginning.split("\n")) {
    const format = formatOfLine(trimSpace(line.replace(/^\ufeff/, "")));
    if (format !== undefined) return format;
  }
  return SIDECAR_NAME.test(name) ? "sidecar" : "tape";
}

function formatOfLine(line: string): FileFormat | undefined {
  // Tapes have no comments.
  if (line.startsWith("#")) return "sidecar";
  const value = parsed(line);
  return value === undefined ? formatOfWords(line) : formatOfValue(value);
}

function parsed(line: string): Json | undefined {
  try {
    return readJson(line);
  } catch {
    return undefined;
  }
}

function formatOfValue(value: Json): FileFormat | undefined {
  if (!(value instanceof JsonObject)) return undefined;
  const members = new Map(value.members);
  if (members.get("type") === "annotation") return "sidecar";
  if (members.get("type") === "record") return "tape";
  return onlyOne(members.has("schema_version"), members.has("version"));
}

/** The format of a line that is not JSON, by its words. */
function formatOfWords(line: string): FileFormat | undefined {
  return onlyOne(
    /"(?:schema_version|annotation|event_id|tape_path|tape_content_hash)"/.test(line),
    /"(?:version|record|seq|virtual_time_ms|monotonic_ms|argv)"/.test(line),
  );
}

function onlyOne(sidecar: boolean, tape: boolean): FileFormat | undefined {
  if (sidecar === tape) return undefined;
  return sidecar ? "sidecar" : "tape";
}

interface Peeked {
  readonly format: FileFormat;
  /** The whole file, also when it can be read only once. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Decides the format by the first piece of a file. Errors of reading are thrown later, by the reader of the format. */
export async function peek(path: string, bytes: AsyncIterable<Uint8Array>): Promise<Peeked> {
  const pieces = bytes[Symbol.asyncIterator]();
  try {
    const first = await pieces.next();
    const beginning = first.done ? "" : new TextDecoder("utf-8", { ignoreBOM: true }).decode(first.value);
    return { format: formatOf(beginning, path), bytes: joined(first, pieces) };
  } catch (error) {
    return { format: formatOf("", path), bytes: failing(error) };
  }
}

async function* joined(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value;
}

// biome-ignore lint/correctness/useYield: it throws in place of the first bytes.
async function* failing(error: unknown): AsyncGenerator<Uint8Array> {
  throw error;
}
