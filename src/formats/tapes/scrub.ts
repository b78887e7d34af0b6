import { readJson, Unreadable } from "../json/exact-json.ts";
import { type FreeForm, type FreeMap, printString } from "../json/print-json.ts";
import { type Cleaning, changedTexts, cleaned } from "../secrets/clean-value.ts";
import type { Scrubber } from "../secrets/scrub.ts";
import { trimSpace } from "../text/lines.ts";
import { type Row, readSidecarLine } from "./sidecar/sidecar.ts";
import { isBodyHash, type TapeHeader, type TapeRecord } from "./tape.ts";

type Scrub = (text: string) => string;

/** Removes secrets from the texts of a tape, and counts the texts that held one. */
export class TapeScrubber {
  readonly #how: Cleaning;
  #scrubbed = 0;

  constructor(scrub: Scrub) {
    // A content hash stays as it is: it reveals nothing of the content.
    const text = (one: string) => (isBodyHash(one) ? one : scrub(one));
    // Names of members are fixed by the format.
    this.#how = { text, name: (one) => one };
  }

  get scrubbed(): number {
    return this.#scrubbed;
  }

  text(text: string): string {
    return this.#clean(text) as string;
  }

  header(header: TapeHeader): TapeHeader {
    return this.#clean(header) as TapeHeader;
  }

  /** Returns the same object when the record holds no secret. */
  record(record: TapeRecord): TapeRecord {
    return this.#clean(record) as TapeRecord;
  }

  #clean(value: unknown): unknown {
    const clean = cleaned(value, this.#how);
    this.#scrubbed += changedTexts(value, clean);
    return clean;
  }
}

/** Removes secrets from every text of a row, names of members included. */
export function redactRow(row: Row, { scrubText }: Scrubber): Row {
  const maybe = (text: string | null) => (text === null ? null : scrubText(text));
  return {
    ...row,
    id: scrubText(row.id),
    evidence: maybe(row.evidence),
    suggested_fix: cleaned(row.suggested_fix, scrubText) as FreeForm,
    author: row.author && { ...row.author, id: maybe(row.author.id), surface: maybe(row.author.surface) },
    timestamp: maybe(row.timestamp),
    friction_kind: maybe(row.friction_kind),
    links: row.links.map(({ label, url, reference }) => ({
      label: maybe(label),
      url: maybe(url),
      reference: maybe(reference),
    })),
    metadata: cleaned(row.metadata, scrubText) as FreeMap,
  };
}

const STRING = /"(?:[^"\\]|\\.)*"/g;

/**
 * Removes secrets from a line of a sidecar and leaves the rest as it was written: numbers, spaces, unknown members and their order.
 * Idempotent. Removing a secret that spans several members may remove the marks between them too; readers then refuse the line.
 */
export function scrubLine(line: string, scrub: Scrub): string {
  // Most lines hold no secret and are not parsed.
  const whole = scrub(line);
  if (whole === line || !isReadable(line)) return whole;
  return scrub(line.replace(STRING, (literal) => scrubLiteral(literal, scrub)));
}

function scrubLiteral(literal: string, scrub: Scrub): string {
  const text = JSON.parse(literal) as string;
  const clean = scrub(text);
  return clean === text ? literal : printString(clean);
}

function isReadable(line: string): boolean {
  try {
    readSidecarLine(readJson(trimSpace(line)));
    return true;
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}
