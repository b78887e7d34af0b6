import { readJson, Unreadable } from "../json/exact-json.ts";
import { FileError } from "../text/file-error.ts";
import { type Bytes, type LineReader, loadLines, trimSpace } from "../text/lines.ts";
import {
  printTapeHeader,
  printTapeRecord,
  readTapeLine,
  TAPE_VERSION,
  type Tape,
  type TapeHeader,
  type TapeLine,
  type TapeRecord,
} from "./tape.ts";

/** Reads a tape line by line; each record is passed on and not kept. Throws `FileError` at the first invalid line. */
export class TapeReader implements LineReader {
  readonly #path: string;
  readonly #onRecord: (record: TapeRecord) => void;
  #header: TapeHeader | undefined;
  #lines = 0;

  constructor(path: string, onRecord: (record: TapeRecord) => void) {
    this.#path = path;
    this.#onRecord = onRecord;
  }

  /** Set once the file has been read. */
  get header(): TapeHeader {
    return this.#header as TapeHeader;
  }

  /** Counts a line that another reader has recognized as a record. */
  countRecord(): void {
    this.#lines++;
  }

  line(text: string): void {
    this.#lines++;
    if (this.#lines === 1) this.#header = this.#readHeader(text);
    else this.#take(trimSpace(text), this.#lines);
  }

  end(): void {
    if (this.#lines === 0) throw this.#wrong("tape_empty", `empty tape file: ${this.#path}`);
  }

  #readHeader(text: string): TapeHeader {
    const line = this.#parsed(text, (reason) =>
      this.#wrong("tape_header_parse", `parse tape header in ${this.#path}: ${reason}`, { line: 1 }),
    );
    if (line.type === "record") {
      const message = `tape ${this.#path} is missing its header (first line is a record)`;
      throw this.#wrong("tape_header_missing", message, { line: 1 });
    }
    const declared = Number(line.header.version);
    if (declared > TAPE_VERSION) {
      const message = `tape ${this.#path} declares version ${declared} but this runtime supports up to ${TAPE_VERSION}`;
      throw this.#wrong("unsupported_tape_version", message, { declared, supported: TAPE_VERSION });
    }
    return line.header;
  }

  #take(text: string, number: number): void {
    if (text === "") return;
    const place = { line: number };
    const line = this.#parsed(text, (reason) => {
      const message = `parse tape record at line ${number} in ${this.#path}: ${reason}`;
      return this.#wrong("tape_record_parse", message, place);
    });
    if (line.type === "header") {
      const message = `tape ${this.#path} contains a second header at line ${number}`;
      throw this.#wrong("tape_second_header", message, place);
    }
    this.#onRecord(line.record);
  }

  #parsed(text: string, wrong: (reason: string) => FileError): TapeLine {
    try {
      return readTapeLine(readJson(text));
    } catch (error) {
      if (error instanceof Unreadable) throw wrong(error.message);
      throw error;
    }
  }

  #wrong(code: FileError["code"], message: string, place: FileError["place"] = {}): FileError {
    return new FileError(code, this.#path, `load tape ${this.#path}: ${message}`, place);
  }
}

/** Passes each record on and returns the header. */
export async function readTape(
  path: string,
  bytes: Bytes,
  onRecord: (record: TapeRecord) => void,
): Promise<TapeHeader> {
  const reader = new TapeReader(path, onRecord);
  await loadLines(bytes, reader, (reason) => tapeUnreadable(path, reason));
  return reader.header;
}

export function tapeUnreadable(path: string, reason: string): FileError {
  return new FileError("tape_read_failed", path, `load tape ${path}: read ${path}: ${reason}`);
}

export async function loadTape(path: string, bytes: Bytes): Promise<Tape> {
  const records: TapeRecord[] = [];
  const header = await readTape(path, bytes, (record) => records.push(record));
  return { header, records };
}

/** The lines of a tape file, each with its LF. */
export function* tapeLines({ header, records }: Tape): Generator<string> {
  yield `${printTapeHeader(header)}\n`;
  for (const record of records) yield `${printTapeRecord(record)}\n`;
}
