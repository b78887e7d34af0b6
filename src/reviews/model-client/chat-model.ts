import { setTimeout as sleep } from "node:timers/promises";
import { callOut, type OutboundAnswer } from "../../engine/outbound/call-out.ts";
import { type Guard, systemResolve } from "../../engine/outbound/guard.ts";
import { AppError } from "../../protocol/errors.ts";
import { type ChatAnswer, readCompletion } from "./completion.ts";
import { type RetryWaits, retryWait } from "./retry-wait.ts";

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface ChatModelSettings extends RetryWaits {
  /** What `/chat/completions` is appended to. */
  readonly url: string;
  readonly model: string;
  /** Sent as a bearer token; nothing else is done with it. */
  readonly key?: string | undefined;
  /** For one attempt, to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly attemptsMax: number;
  readonly answerBytesMax: number;
}

/** What holds unless something else is asked for. */
export const CHAT_MODEL_DEFAULTS = {
  timeoutMs: 120_000,
  attemptsMax: 4,
  retryMs: 1000,
  retryMaxMs: 30_000,
  answerBytesMax: 4 * 1024 * 1024,
} as const;

/** A model that answers a chat with a JSON object. */
export interface ChatModel {
  /** Throws `model_failed`, in words that hold neither the key nor anything of what was sent or came back. */
  ask(messages: readonly ChatMessage[], signal: AbortSignal): Promise<ChatAnswer>;
}

/** Tests bring their own. */
export interface ChatModelWorld {
  readonly now: () => number;
  readonly chance: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const WORLD: ChatModelWorld = {
  now: Date.now,
  chance: Math.random,
  wait: (ms, signal) => sleep(ms, undefined, { signal }),
};

// Whoever runs this process named the address, so a model on this very machine will do too.
const OWN_CHOICE: Guard = { allowPrivate: true, resolve: systemResolve };

/** The settings stay in here: what is returned can be logged. */
export function chatModel(settings: ChatModelSettings, world: ChatModelWorld = WORLD): ChatModel {
  // Not every server knows this wish, and some refuse a call because of it.
  let takesFormat = true;

  const attempt = async (messages: readonly ChatMessage[], signal: AbortSignal): Promise<Attempt> => {
    const asked = takesFormat;
    const answer = await callOut(OWN_CHOICE, callFor(settings, messages, asked, signal));
    signal.throwIfAborted();
    if (asked && "status" in answer && (answer.status === 400 || answer.status === 422)) {
      takesFormat = false;
      return attempt(messages, signal);
    }
    return judged(answer, settings);
  };

  return {
    ask: async (messages, signal) => {
      for (let count = 1; ; count++) {
        signal.throwIfAborted();
        const outcome = await attempt(messages, signal);
        if ("answer" in outcome) return outcome.answer;
        const failed = { attempt: count, retryAfter: outcome.retryAfter, now: world.now(), chance: world.chance() };
        const again = outcome.again && count < settings.attemptsMax;
        const waitMs = again ? retryWait(settings, failed) : undefined;
        if (waitMs === undefined) throw new AppError("model_failed", { problem: outcome.problem });
        await world.wait(waitMs, signal);
      }
    },
  };
}

type Attempt =
  | { readonly answer: ChatAnswer }
  | { readonly problem: string; readonly again: boolean; readonly retryAfter?: string | undefined };

function callFor(settings: ChatModelSettings, messages: readonly ChatMessage[], format: boolean, signal: AbortSignal) {
  const { url, model, key, timeoutMs, answerBytesMax } = settings;
  return {
    url: `${url.replace(/\/+$/, "")}/chat/completions`,
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ model, messages, ...(format ? { response_format: { type: "json_object" } } : {}) }),
    timeoutMs,
    maxAnswerBytes: answerBytesMax,
    signal,
  };
}

function judged(answer: OutboundAnswer, { answerBytesMax, key }: ChatModelSettings): Attempt {
  if ("failure" in answer) return { problem: answer.failure, again: true };
  const { status, body, cut, retryAfter } = answer;
  if (status !== 200) {
    const again = status === 408 || status === 429 || status >= 500;
    return { problem: `it answered ${status}${reasonIn(body, key)}`, again, retryAfter };
  }
  if (cut) {
    const tooLarge = body.length >= answerBytesMax;
    const problem = tooLarge ? `its answer is larger than ${answerBytesMax} bytes` : "its answer broke off";
    return { problem, again: !tooLarge };
  }
  const completion = readCompletion(body);
  return completion === undefined
    ? { problem: "what it answered is not a chat completion", again: false }
    : { answer: completion };
}

/** A word like `model_not_found`. Nothing longer: messages of model servers repeat keys and what was sent. */
function reasonIn(body: Buffer, key: string | undefined): string {
  let error: unknown;
  try {
    error = (JSON.parse(body.toString("utf8")) as { error?: unknown } | null)?.error;
  } catch {
    return "";
  }
  const { code, type } = (error ?? {}) as { code?: unknown; type?: unknown };
  const word = [code, type].find((one): one is string => typeof one === "string" && /^[a-z_]{3,40}$/.test(one));
  return word === undefined || word === key ? "" : ` (${word})`;
}
