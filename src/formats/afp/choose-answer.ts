import { DECODINGS, type Decoded, decodeAnswer } from "./decode-answer.ts";
import { own } from "./field-names.ts";
import { type Asked, type CheckedResponse, checkResponse } from "./response.ts";
import type { WrapperMessage } from "./wrapper-stream.ts";

/** The texts of one message of the agent, and whether more was to follow. */
interface Group {
  readonly texts: string[];
  reason?: string;
  finished: boolean;
  started: boolean;
}

const NO_MESSAGE = "";

/** Gathers what the messages of one run say about the answer. */
export class AnswerFinder {
  readonly #groups = new Map<string, Group>();
  readonly #warnings = new Set<string>();
  #continued = false;
  #toolError: ToolError | undefined;

  take({ type, part = {}, error }: WrapperMessage): void {
    const id = own(part, "messageID");
    const key = typeof id === "string" ? id : NO_MESSAGE;
    if (type === "step_start") this.#group(key).started = true;
    else if (type === "step_finish") this.#finish(this.#group(key), own(part, "reason"));
    else if (type === "text") this.#text(key, part);
    else if (type === "error") this.#fail(error ?? {});
  }

  get toolError(): ToolError | undefined {
    return this.#toolError;
  }

  /** A step that began and never ended. */
  get unfinished(): boolean {
    return [...this.#groups].some(([key, { started, finished }]) => key !== NO_MESSAGE && started && !finished);
  }

  /** Why the agent stopped talking, as far as it said so. */
  get lastReason(): string | undefined {
    return [...this.#groups.values()].findLast(({ finished }) => finished)?.reason;
  }

  get hasText(): boolean {
    return [...this.#groups.values()].some(({ texts }) => texts.some((text) => text.trim() !== ""));
  }

  /** Of reading alone, whether or not an answer was found. */
  get warnings(): ReadonlySet<string> {
    return this.#warnings;
  }

  choose(asked: Asked): Choice {
    const found = [...this.#groups.values()].flatMap((group, order) => decodedIn(group, order));
    const checked = found.map((one) => ({ ...one, checked: checkResponse(one.decoded.value, asked) }));
    const candidates = checked.filter(({ checked }) => checked.problems.length === 0);
    const [best] = [...candidates].sort(byWorth);
    if (best === undefined) return { rejected: checked.at(-1)?.checked };
    return { best: { ...best, several: candidates.length > 1 } };
  }

  #group(key: string): Group {
    const known = this.#groups.get(key);
    if (known) return known;
    const group: Group = { texts: [], finished: false, started: false };
    this.#groups.set(key, group);
    return group;
  }

  #finish(group: Group, reason: unknown): void {
    group.finished = true;
    group.reason = typeof reason === "string" ? reason : "stop";
  }

  #text(key: string, part: NonNullable<WrapperMessage["part"]>): void {
    if (this.#continued) {
      this.#warnings.add("text_after_continuation");
      return;
    }
    if (own(part, "synthetic") === true) {
      this.#continued = true;
      this.#warnings.add("synthetic_text");
      return;
    }
    const text = own(part, "text");
    if (typeof text === "string") this.#group(key).texts.push(text);
  }

  #fail(error: NonNullable<WrapperMessage["error"]>): void {
    this.#warnings.add("error_message");
    this.#toolError = toolErrorIn(error);
  }
}

export interface ToolError {
  readonly name?: string;
  readonly message?: string;
  readonly isRetryable?: boolean;
}

function toolErrorIn(error: NonNullable<WrapperMessage["error"]>): ToolError {
  const name = own(error, "name");
  const data = own(error, "data");
  const inner = typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  const message = own(inner, "message");
  const isRetryable = own(inner, "isRetryable");
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof isRetryable === "boolean" ? { isRetryable } : {}),
  };
}

interface Found {
  readonly decoded: Decoded;
  /** Of the group, and of the text within it. */
  readonly order: number;
  readonly place: number;
  readonly intermediate: boolean;
  readonly finished: boolean;
}

export interface Choice {
  readonly best?: Found & { readonly checked: CheckedResponse; readonly several: boolean };
  /** The last object that was found and could not be used. */
  readonly rejected?: CheckedResponse | undefined;
}

function decodedIn(group: Group, order: number): Found[] {
  const { texts, reason, finished } = group;
  const about = { order, intermediate: reason === "tool-calls" || reason === "unknown", finished };
  const single = texts.flatMap((text, place) => {
    const decoded = decodeAnswer(text);
    return decoded === undefined ? [] : [{ decoded, place, ...about }];
  });
  if (single.length > 0 || texts.length < 2) return single;
  const joined = decodeAnswer(texts.join(""));
  return joined === undefined ? [] : [{ decoded: { ...joined, how: "joined" }, place: 0, ...about }];
}

/** What was final before what was on the way; then the earlier message; then the more direct form; then the later text. */
function byWorth(a: Found, b: Found): number {
  return (
    Number(a.intermediate) - Number(b.intermediate) ||
    a.order - b.order ||
    DECODINGS.indexOf(a.decoded.how) - DECODINGS.indexOf(b.decoded.how) ||
    b.place - a.place
  );
}
