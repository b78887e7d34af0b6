import type { Scrubber } from "../formats/secrets/scrub.ts";
import { defined } from "../protocol/defined.ts";
import { type EventDraft, MASK } from "../protocol/events.ts";
import type { Usage } from "./binding.ts";

export interface Speaker {
  readonly agentId: string;
  readonly nodeId: string;
  readonly runId: string;
  readonly scrubber: Pick<Scrubber, "scrubText">;
  /** Whether the log has the text of messages, or only that there were some. */
  readonly content: boolean;
  /** How much of an agent's reasoning is logged. */
  readonly verbosity?: Verbosity;
  emit(event: EventDraft): void;
}

export type Verbosity = "full" | "summary" | "off";

/** The token limit of a reasoning summary. */
export const SUMMARY_TOKENS = 512;
const TOKEN_CHARACTERS = 4;

export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "error";

/**
 * The text of an agent while it works, in chunks. The text of one model call is one message: its last chunk says so, and how the
 * message ended. One that broke off ended with an error, and its text does not count.
 */
export class Messages {
  readonly #speaker: Speaker;
  readonly #text: Pieces;
  #begun = false;
  /** Something of the message is in the log, and its end is not. */
  #shown = false;
  #usage: Usage | undefined;

  constructor(speaker: Speaker, text: Pieces = new CleanText(speaker.scrubber)) {
    this.#speaker = speaker;
    this.#text = text;
  }

  add(text: string): void {
    if (!this.#speaker.content || text === "") return;
    this.#begun = true;
    this.#show(this.#text.add(text));
  }

  used(usage: Usage): void {
    this.#usage = usage;
  }

  end(finishReason: string): void {
    const usage = this.#usage;
    this.#usage = undefined;
    if (!this.#begun) return;
    this.#begun = false;
    const used = usage === undefined ? {} : { model: usage.model, usage: tokensOf(usage) };
    this.#emit(this.#text.end(), true, { finishReason, ...used });
  }

  breakOff(): void {
    this.#text.drop();
    this.#usage = undefined;
    this.#begun = false;
    if (this.#shown) this.#emit("", true, { finishReason: "error" });
  }

  #show(chunk: string): void {
    if (chunk !== "") this.#emit(chunk, false);
  }

  #emit(chunk: string, isLast: boolean, meta?: Record<string, unknown>): void {
    const { nodeId, runId } = this.#speaker;
    this.#shown = !isLast;
    const payload = { nodeId, runId, chunk, isLast, ...defined({ meta }) };
    this.#speaker.emit({ type: "output.chunk", nodeId, payload });
  }
}

export function tokensOf({ inputTokens, outputTokens }: Usage) {
  return { promptTokens: inputTokens, completionTokens: outputTokens, totalTokens: inputTokens + outputTokens };
}

/** Decides which part of a text is shown when. */
export type Pieces = Pick<CleanText, "add" | "end" | "drop">;

/** Pieces of a text that is known to be clean as a whole: each is shown as it is, once it is known whether it is the last. */
export class ClearText implements Pieces {
  #last = "";

  add(piece: string): string {
    const before = this.#last;
    this.#last = piece;
    return before;
  }

  end(): string {
    return this.add("");
  }

  drop(): void {
    this.#last = "";
  }
}

/** Reasoning comes in pieces and is logged once more as a whole before any other event. */
export class Reasoning {
  readonly #speaker: Speaker;
  readonly #pending: CleanText;
  readonly #verbosity: Verbosity;
  #text = "";
  #pieces = 0;
  #logged = false;

  constructor(speaker: Speaker) {
    this.#speaker = speaker;
    this.#pending = new CleanText(speaker.scrubber);
    this.#verbosity = speaker.content ? (speaker.verbosity ?? "full") : "off";
  }

  add(piece: string): void {
    if (this.#verbosity !== "off") this.#show(this.#pending.add(piece));
  }

  /** Logs the reasoning, at least once in an invocation, also for an agent without any. */
  close(): void {
    this.#show(this.#pending.end());
    if (this.#logged && this.#pieces === 0) return;
    this.#logged = true;
    this.#log({});
  }

  /** The reasoning is discarded and comes again from its beginning. */
  breakOff(): void {
    this.#pending.drop();
    if (this.#pieces > 0) this.#log({ superseded: true });
  }

  #show(delta: string): void {
    if (delta === "") return;
    const { agentId, nodeId } = this.#speaker;
    this.#text += delta;
    const payload = { agentId, delta, sequence: this.#pieces };
    this.#pieces += 1;
    if (this.#verbosity === "full") this.#speaker.emit({ type: "agent.reasoning.delta", nodeId, payload });
  }

  #log(more: { readonly superseded?: true }): void {
    const { agentId, nodeId } = this.#speaker;
    const verbosity = this.#pieces === 0 ? "off" : this.#verbosity;
    const most = verbosity === "summary" ? SUMMARY_TOKENS * TOKEN_CHARACTERS : Number.POSITIVE_INFINITY;
    const payload = { agentId, reasoning: this.#text.slice(0, most), verbosity, ...more };
    this.#speaker.emit({ type: "agent.reasoned", nodeId, payload });
    this.#text = "";
    this.#pieces = 0;
  }
}

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
