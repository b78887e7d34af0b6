import { changedTexts } from "../secrets/changed-texts.ts";
import { type Cleaning, cleaned } from "../secrets/scrub.ts";
import { isBodyHash } from "./bodies.ts";
import type { TapeHeader, TapeRecord } from "./tape.ts";

/** Cleans the texts of a tape, and counts those that something was taken out of. */
export class TapeScrubber {
  readonly #how: Cleaning;
  #scrubbed = 0;

  constructor(scrub: (text: string) => string) {
    // A content hash must keep every digit, and reveals nothing of the content.
    const text = (one: string) => (isBodyHash(one) ? one : scrub(one));
    // Names of members are those of the format.
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

  /** The very same record when there was nothing to take out. */
  record(record: TapeRecord): TapeRecord {
    return this.#clean(record) as TapeRecord;
  }

  #clean(value: unknown): unknown {
    const clean = cleaned(value, this.#how);
    this.#scrubbed += changedTexts(value, clean);
    return clean;
  }
}
