import { readJson, Unreadable } from "../../json/exact-json.ts";
import { FileError } from "../../text/file-error.ts";
import { type Bytes, type LineReader, loadLines, trimSpace } from "../../text/lines.ts";
import {
  printRow,
  printSidecarHeader,
  type Row,
  readSidecarLine,
  SIDECAR_VERSION,
  type Sidecar,
  type SidecarHeader,
  type SidecarLine,
} from "./sidecar.ts";

/** Blank lines and comments are no part of the content. */
export function isContent(trimmed: string): boolean {
  return trimmed !== "" && !trimmed.startsWith("#");
}

/**
 * Reads a sidecar line by line; each row is handed on with the number of its line and forgotten. Throws `FileError` at the first
 * line that is wrong.
 */
export class SidecarReader implements LineReader {
  readonly #path: string;
  readonly #onRow: (row: Row, line: number) => void;
  #header: SidecarHeader | undefined;
  #headerLine = 0;
  #lines = 0;

  constructor(path: string, onRow: (row: Row, line: number) => void) {
    this.#path = path;
    this.#onRow = onRow;
  }

  /** There once its line has been read. */
  get header(): SidecarHeader {
    return this.#header as SidecarHeader;
  }

  /** Where the header stands; 0 as long as it has not been read. */
  get headerLine(): number {
    return this.#headerLine;
  }

  /** Counts a line that another reader has found to be a row. Returns its number. */
  countRow(): number {
    this.#lines++;
    return this.#lines;
  }

  line(text: string): void {
    this.#lines++;
    const trimmed = trimSpace(text);
    if (!isContent(trimmed)) return;
    if (this.#header === undefined) {
      this.#header = this.#readHeader(trimmed);
      this.#headerLine = this.#lines;
    } else {
      this.#take(trimmed);
    }
  }

  end(): void {
    if (this.#header !== undefined) return;
    throw this.#wrong("empty_file", `empty annotation file: ${this.#path} (expected a header on line 1)`);
  }

  #readHeader(text: string): SidecarHeader {
    const line = this.#parsed(text, "header_parse", "parse annotation header");
    if (line.type === "annotation") {
      const message = `annotation file ${this.#path} is missing its header (first non-empty line is a record)`;
      throw this.#wrong("header_missing", message, { line: this.#lines });
    }
    const declared = Number(line.header.schema_version);
    if (declared > SIDECAR_VERSION) {
      const supported = SIDECAR_VERSION;
      const message = `annotation file ${this.#path} declares schema_version ${declared} but this runtime supports up to ${supported}`;
      throw this.#wrong("unsupported_schema_version", message, { declared, supported });
    }
    return line.header;
  }

  #take(text: string): void {
    const line = this.#parsed(text, "record_parse", "parse annotation");
    if (line.type === "header") {
      const message = `annotation file ${this.#path} contains a second header at line ${this.#lines}`;
      throw this.#wrong("second_header", message, { line: this.#lines });
    }
    this.#onRow(line.row, this.#lines);
  }

  #parsed(text: string, code: FileError["code"], doing: string): SidecarLine {
    try {
      return readSidecarLine(readJson(text));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      const line = this.#lines;
      throw this.#wrong(code, `${doing} at line ${line} in ${this.#path}: ${error.message}`, { line });
    }
  }

  #wrong(code: FileError["code"], message: string, place: FileError["place"] = {}): FileError {
    return new FileError(code, this.#path, `load annotations ${this.#path}: ${message}`, place);
  }
}

/** Passes each row on and returns the header. */
export async function readSidecar(
  path: string,
  bytes: Bytes,
  onRow: (row: Row, line: number) => void,
): Promise<SidecarHeader> {
  const reader = new SidecarReader(path, onRow);
  await loadLines(bytes, reader, (reason) => sidecarUnreadable(path, reason));
  return reader.header;
}

export function sidecarUnreadable(path: string, reason: string): FileError {
  return new FileError("read_failed", path, `load annotations ${path}: read ${path}: ${reason}`);
}

export async function loadSidecar(path: string, bytes: Bytes): Promise<Sidecar> {
  const rows: Row[] = [];
  const header = await readSidecar(path, bytes, (row) => rows.push(row));
  return { header, rows };
}

/** The lines of a sidecar file, each with its LF. */
export function* sidecarLines({ header, rows }: Sidecar): Generator<string> {
  yield `${printSidecarHeader(header)}\n`;
  for (const row of rows) yield `${printRow(row)}\n`;
}
