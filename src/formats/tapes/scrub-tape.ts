import { hiddenArgument, hiddenByName } from "../secrets/hidden-value.ts";
import { isBodyHash } from "./bodies.ts";
import type { TapeHeader, TapeRecord } from "./tape.ts";

/** Cleans the texts of a tape, and counts those that something was taken out of. */
export class TapeScrubber {
  readonly #scrub: (text: string) => string;
  #scrubbed = 0;

  constructor(scrub: (text: string) => string) {
    this.#scrub = scrub;
  }

  get scrubbed(): number {
    return this.#scrubbed;
  }

  text(text: string): string {
    // What names content is told apart by every digit of it, and says nothing of what is in there.
    const clean = isBodyHash(text) ? text : this.#scrub(text);
    if (clean !== text) this.#scrubbed++;
    return clean;
  }

  header(header: TapeHeader): TapeHeader {
    return this.#clean(header) as TapeHeader;
  }

  /** The very same record when there was nothing to take out. */
  record(record: TapeRecord): TapeRecord {
    const before = this.#scrubbed;
    const clean = this.#clean(record) as TapeRecord;
    return this.#scrubbed === before ? record : clean;
  }

  #clean(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return this.#list(value);
    const program: unknown = "program" in value ? value.program : undefined;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        // Arguments are read with their program before them: it decides what a short option is.
        if (name === "args" && Array.isArray(member)) return [name, this.#list([program, ...member], 1)];
        return [name, this.#member(name, member)];
      }),
    );
  }

  /** A recorded command line is a list of arguments: the name of a secret is the argument before it. */
  #list(items: readonly unknown[], from = 0): unknown[] {
    return items.slice(from).map((item, i) => this.#item(items, i + from) ?? this.#clean(item));
  }

  #item(items: readonly unknown[], i: number): string | undefined {
    const hidden = hiddenArgument(items, i);
    if (hidden === undefined) return undefined;
    if (hidden !== items[i]) this.#scrubbed++;
    return this.#scrub(hidden);
  }

  #member(name: string, member: unknown): unknown {
    const hidden = typeof member === "string" ? hiddenByName(name, member) : undefined;
    if (hidden === undefined) return this.#clean(member);
    if (hidden !== member) this.#scrubbed++;
    return hidden;
  }
}
