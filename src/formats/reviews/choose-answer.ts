import { isObject, own } from "../../protocol/own.ts";
import { type CheckedResponse, checkResponse, type Expected } from "./check-response.ts";
import { DECODINGS, type Decoded, decodeAnswer } from "./decode-answer.ts";
import type { Members } from "./request.ts";
import type { WrapperMessage } from "./wrapper-stream.ts";

/** The texts of one message of the agent, and whether more was to follow. */
interface Group {
  readonly texts: string[];
  reason?: string;
  finished: boolean;
  started: boolean;
  /** The number of its texts that were searched for an answer when a step of it ended. */
  looked: number;
}

/** Collects candidates for the answer from the messages of one run. */
export class AnswerFinder {
  /** Texts without a message id are one group. */
  readonly #groups = new Map<string | undefined, Group>();
  /** Warnings of reading alone, whether or not an answer was found. */
  readonly warnings = new Set<string>();
  toolError: ToolError | undefined;
  /** The usage of all steps so far, also of those without a result. */
  spent: Spent = { tokens: 0, cost: 0 };
  #continued = false;
  #latest: Group | undefined;

  take({ type, part = {}, error }: WrapperMessage): void {
    const id = own(part, "messageID");
    const key = typeof id === "string" ? id : undefined;
    if (type === "step_start") this.#group(key).started = true;
    else if (type === "step_finish") this.#finish(this.#group(key), part);
    else if (type === "text") this.#text(key, part);
    else if (type === "error") this.#fail(error ?? {});
  }

  /** Whether a step began and did not end. */
  get unfinished(): boolean {
    return [...this.#groups].some(([key, { started, finished }]) => key !== undefined && started && !finished);
  }

  /** The stop reason of the agent, where it gave one. */
  get lastReason(): string | undefined {
    return [...this.#groups.values()].findLast(({ finished }) => finished)?.reason;
  }

  get hasText(): boolean {
    return [...this.#groups.values()].some(({ texts }) => texts.some((text) => text.trim() !== ""));
  }

  /**
   * Whether the step that ended last holds a usable answer. Called after each step: every text is decoded once, however often a step is
   * repeated, so that an endless stream cannot make this slow.
   */
  answeredBy(expected: Expected): boolean {
    const group = this.#latest;
    if (group === undefined || isIntermediate(group) || group.looked === group.texts.length) return false;
    const recent = { ...group, texts: group.looked === 0 ? group.texts : group.texts.slice(group.looked) };
    group.looked = group.texts.length;
    return decodedIn(recent, 0).some(({ decoded }) => checkResponse(decoded.value, expected).problems.length === 0);
  }

  choose(expected: Expected): Choice {
    const found = [...this.#groups.values()].flatMap((group, order) => decodedIn(group, order));
    const checked = found.map((one) => ({ ...one, checked: checkResponse(one.decoded.value, expected) }));
    const candidates = checked.filter(({ checked }) => checked.problems.length === 0);
    const [best] = [...candidates].sort(byWorth);
    if (best === undefined) return { rejected: checked.at(-1)?.checked };
    return { best: { ...best, several: candidates.length > 1 } };
  }

  #group(key: string | undefined): Group {
    const known = this.#groups.get(key);
    if (known) return known;
    const group: Group = { texts: [], finished: false, started: false, looked: 0 };
    this.#groups.set(key, group);
    return group;
  }

  #finish(group: Group, part: Members): void {
    const reason = own(part, "reason");
    group.finished = true;
    group.reason = typeof reason === "string" ? reason : "stop";
    this.#latest = group;
    const { tokens, cost } = this.spent;
    this.spent = { tokens: tokens + tokensIn(own(part, "tokens")), cost: cost + amount(own(part, "cost")) };
  }

  #text(key: string | undefined, part: Members): void {
    if (this.#continued) {
      this.warnings.add("text_after_continuation");
      return;
    }
    if (own(part, "synthetic") === true) {
      this.#continued = true;
      this.warnings.add("synthetic_text");
      return;
    }
    const text = own(part, "text");
    if (typeof text === "string") this.#group(key).texts.push(text);
  }

  #fail(error: Members): void {
    this.warnings.add("error_message");
    this.toolError = toolErrorIn(error);
  }
}

export interface ToolError {
  readonly name?: string;
  readonly message?: string;
  readonly isRetryable?: boolean;
}

function toolErrorIn(error: Members): ToolError {
  const name = own(error, "name");
  const data = own(error, "data");
  const inner = isObject(data) ? data : {};
  const message = own(inner, "message");
  const isRetryable = own(inner, "isRetryable");
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof isRetryable === "boolean" ? { isRetryable } : {}),
  };
}

/** The usage of the models behind the answer. */
export interface Spent {
  readonly tokens: number;
  /** In the currency of the reporting agent. */
  readonly cost: number;
}

function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The total is missing where a step ended without a reason. */
function tokensIn(value: unknown): number {
  if (!isObject(value)) return 0;
  const total = own(value, "total");
  if (typeof total === "number") return amount(total);
  const cache = own(value, "cache");
  const parts = ["input", "output", "reasoning"].map((name) => amount(own(value, name)));
  const cached = isObject(cache) ? [amount(own(cache, "read")), amount(own(cache, "write"))] : [];
  return [...parts, ...cached].reduce((sum, one) => sum + one, 0);
}

interface Found {
  readonly decoded: Decoded;
  /** The position of the group, and of the text within it. */
  readonly order: number;
  readonly place: number;
  readonly intermediate: boolean;
  readonly finished: boolean;
}

export interface Choice {
  readonly best?: Found & { readonly checked: CheckedResponse; readonly several: boolean };
  /** The last object that was found but is unusable. */
  readonly rejected?: CheckedResponse | undefined;
}

/** Whether more was to follow. */
function isIntermediate({ reason }: Group): boolean {
  return reason === "tool-calls" || reason === "unknown";
}

function decodedIn(group: Group, order: number): Found[] {
  const { texts, finished } = group;
  const about = { order, intermediate: isIntermediate(group), finished };
  const single = texts.flatMap((text, place) => {
    const decoded = decodeAnswer(text);
    return decoded === undefined ? [] : [{ decoded, place, ...about }];
  });
  if (single.length > 0 || texts.length < 2) return single;
  const joined = decodeAnswer(texts.join(""));
  return joined === undefined ? [] : [{ decoded: { ...joined, how: "joined" }, place: 0, ...about }];
}

/** Final texts before intermediate ones; then the earlier message; then the more direct form; then the later text. */
function byWorth(a: Found, b: Found): number {
  return (
    Number(a.intermediate) - Number(b.intermediate) ||
    a.order - b.order ||
    DECODINGS.indexOf(a.decoded.how) - DECODINGS.indexOf(b.decoded.how) ||
    b.place - a.place
  );
}
