import type { Scrubber } from "../formats/secrets/scrub.ts";
import { MASK } from "../protocol/events.ts";

/** The number of characters held back: an unfinished secret is recognised before its beginning is shown. */
const HELD = 256;
/** A text in which no cut can be made for so long is one that hides something. */
const MOST = 65_536;

/**
 * Scrubs text that comes in pieces: a piece is released once no secret can begin in it and end in a later one. A piece alone may
 * hold half a secret, which is not recognised.
 */
export class CleanText {
  readonly #scrubber: Pick<Scrubber, "scrubText">;
  #held = "";
  #tryAt = 2 * HELD;
  #closed = false;

  constructor(scrubber: Pick<Scrubber, "scrubText">) {
    this.#scrubber = scrubber;
  }

  /** Returns the text that may be shown now; often nothing. */
  add(piece: string): string {
    if (this.#closed) return "";
    this.#held += piece;
    if (this.#held.length < this.#tryAt) return "";
    const cut = cutOf(this.#held);
    const [shown, kept] = [this.#held.slice(0, cut), this.#held.slice(cut)];
    const clean = this.#scrubber.scrubText(shown);
    if (clean + this.#scrubber.scrubText(kept) !== this.#scrubber.scrubText(this.#held)) return this.#wait();
    this.#held = kept;
    this.#tryAt = 2 * HELD;
    return clean;
  }

  /** The text has ended: the rest of it. The next one begins. */
  end(): string {
    const rest = this.#scrubber.scrubText(this.#held);
    this.drop();
    return rest;
  }

  /** Forgets what was not shown. */
  drop(): void {
    this.#held = "";
    this.#tryAt = 2 * HELD;
    this.#closed = false;
  }

  /** Something that must not be shown lies across the cut. */
  #wait(): string {
    this.#tryAt = this.#held.length + HELD;
    if (this.#held.length <= MOST) return "";
    this.#held = "";
    this.#closed = true;
    return MASK;
  }
}

/** Cuts between two words where there are words, and never within a character. */
function cutOf(text: string): number {
  const most = text.length - HELD;
  const space = text.lastIndexOf(" ", most - 1);
  if (space > 0) return space + 1;
  const code = text.charCodeAt(most);
  return code >= 0xdc00 && code <= 0xdfff ? most - 1 : most;
}
