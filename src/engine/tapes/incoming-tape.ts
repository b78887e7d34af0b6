import { setImmediate as nextTurn } from "node:timers/promises";
import { cleaned } from "../../formats/secrets/clean-value.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { TapeDigest } from "../../formats/tapes/digest.ts";
import { readTape } from "../../formats/tapes/read-tape.ts";
import { TapeScrubber } from "../../formats/tapes/scrub.ts";
import { printTapeHeader, type RecordPayload, recordToPayload, referencedBodies } from "../../formats/tapes/tape.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { AppError } from "../../protocol/errors.ts";
import { HEADER_CHARACTERS_MAX } from "../../store/port/tapes.ts";
import { jsonBytes } from "../runs/run-size.ts";
import { isLong, LONG_TEXT, scrubbedTexts } from "../secrets/scrub-in-turns.ts";
import { lineExcess, Turns } from "./tape-lines.ts";

/** The codes of lines that only a server refuses, in addition to those of the reader. */
const TOO_DENSE = "tape_line_too_dense";
const HEADER_TOO_LONG = "tape_header_too_long";

/** A tape as it will be stored, with the digest of the received one. */
export interface IncomingTape {
  readonly digest: string;
  /** The header line. */
  readonly header: string;
  readonly name?: string;
  readonly payloads: readonly RecordPayload[];
  /** The hashes of the bodies that its records name, each once, sorted. */
  readonly bodies: readonly string[];
  readonly scrubbed: number;
}

/** The longest tape, in characters of its events. Events are read and sent in pages, and the run itself stays small. */
const LONGEST_TAPE = 64_000_000;

/** The characters that an event counts without its payload: it has some 250, but writing a row costs as much as a thousand. */
const ENVELOPE_CHARACTERS = 1_000;

/**
 * Reads the text of a tape. Throws `tape_unreadable` for a text that is no tape, has a header that is too long or a line that is too dense, and
 * `tape_too_long`.
 */
export async function incomingTape(
  scrubber: Pick<Scrubber, "scrubText" | "scrubLong">,
  text: string,
  givenName: string | undefined,
  charactersMax = LONGEST_TAPE,
): Promise<IncomingTape> {
  requireShortHeader(text);
  const long = await longTexts(scrubber, text);
  const cleaning = new TapeScrubber((one) => long.get(one) ?? scrubber.scrubText(one));
  const name = givenName === undefined ? {} : { name: cleaning.text(givenName) };
  const digest = await TapeDigest.start();
  const payloads: RecordPayload[] = [];
  const bodies = new Set<string>();
  let size = 0;
  const header = await readTape(name.name ?? "the tape", piecesOf(text), (record) => {
    digest.add(record);
    const clean = cleaning.record(record);
    for (const hash of referencedBodies(clean)) bodies.add(hash);
    const payload = recordToPayload(clean);
    size += jsonBytes(payload) + ENVELOPE_CHARACTERS;
    if (size > charactersMax) throw tooLong(payloads.length, charactersMax);
    payloads.push(payload);
  }).catch(unreadable);
  const cleanHeader = printTapeHeader(cleaning.header(header));
  return {
    digest: digest.hex(),
    header: cleanHeader,
    ...name,
    payloads,
    bodies: [...bodies].sort(),
    scrubbed: cleaning.scrubbed,
  };
}

/** The long texts of a tape, scrubbed ahead: each would block other requests while its record is read. Throws `tape_unreadable` for a line with too many values. */
async function longTexts(
  scrubber: Pick<Scrubber, "scrubText" | "scrubLong">,
  tape: string,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Set<string>();
  const turns = new Turns();
  for (let start = 0, number = 1; start < tape.length; number++) {
    const feed = tape.indexOf("\n", start);
    const end = feed < 0 ? tape.length : feed;
    if (end - start >= LONG_TEXT) {
      const line = tape.slice(start, end);
      requireSparse(line, number);
      addLongTexts(line, texts);
      await nextTurn();
    } else {
      const pause = turns.after(end - start);
      if (pause !== undefined) await pause;
    }
    start = end + 1;
  }
  return scrubbedTexts(scrubber, texts);
}

function requireShortHeader(tape: string): void {
  const feed = tape.indexOf("\n");
  if ((feed < 0 ? tape.length : feed) <= HEADER_CHARACTERS_MAX) return;
  const message = `the header has more than ${HEADER_CHARACTERS_MAX} characters`;
  throw new AppError("tape_unreadable", { code: HEADER_TOO_LONG, line: 1, message });
}

function requireSparse(line: string, number: number): void {
  const excess = lineExcess(line);
  if (excess === undefined) return;
  const message = `line ${number} ${excess}`;
  throw new AppError("tape_unreadable", { code: TOO_DENSE, line: number, message });
}

/** Collects the long texts of a line. A line that is no JSON has none; the reader reports it. */
function addLongTexts(line: string, texts: Set<string>): void {
  try {
    cleaned(JSON.parse(line), (text) => {
      if (isLong(text)) texts.add(text);
      return text;
    });
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
  }
}

const PIECE_BYTES = 32 * 1024;

/** The bytes of a text in pieces, with other work in between. */
async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text, "utf8");
  for (let i = 0; i < bytes.length; i += PIECE_BYTES) {
    yield bytes.subarray(i, i + PIECE_BYTES);
    await nextTurn();
  }
}

function unreadable(error: unknown): never {
  if (!(error instanceof FileError)) throw error;
  const { code, place, message } = error;
  throw new AppError("tape_unreadable", { code, ...place, message });
}

function tooLong(records: number, limitCharacters: number): AppError {
  const problem = `only its first ${records} records fit into ${limitCharacters} characters of events`;
  return new AppError("tape_too_long", { problem, limitCharacters });
}
