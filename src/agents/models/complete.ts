import { AppError } from "../../protocol/errors.ts";
import { RETRY_WORLD, type RetryWorld } from "../retrying.ts";
import type { Asking } from "./ask-model.ts";
import type { Format, ModelSettings } from "./model-settings.ts";
import { formatFor, systemFor } from "./prompt.ts";
import type { TakenTurn } from "./take-turn.ts";

export interface CompletionMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface Completion {
  /** Empty when the model returned no text. */
  readonly text: string;
  /** Why it stopped: `stop`, `length`, `content-filter`, … */
  readonly finish: string;
}

/** A model without tools and turns, for those who review. */
export interface Completer {
  /**
   * Answers a conversation, with JSON of this schema when there is one; whether it is valid is for the caller to check. Throws
   * `model_failed`, in words that hold neither the key nor anything of what was sent or came back, or the reason of the signal.
   */
  complete(
    messages: readonly CompletionMessage[],
    schema: Readonly<Record<string, unknown>> | undefined,
    signal: AbortSignal,
  ): Promise<Completion>;
}

/** The settings stay in here: what is returned can be logged. Their time is for one attempt, since there are no turns to share it. */
export function completer(settings: ModelSettings, world: RetryWorld = RETRY_WORLD): Completer {
  const asking: Asking = { settings, prices: [], world, attemptMs: settings.timeoutMs, format: settings.format };
  return {
    complete: async (messages, schema, signal) => {
      const taken = await ask(asking, messages, schema, signal);
      if ("problem" in taken) throw new AppError("model_failed", { problem: taken.problem.message });
      const { text, finish } = taken.turn;
      return { text, finish };
    },
  };
}

async function ask(
  asking: Asking,
  messages: readonly CompletionMessage[],
  schema: Readonly<Record<string, unknown>> | undefined,
  signal: AbortSignal,
): Promise<TakenTurn> {
  const { askModel } = await import("./ask-model.ts");
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  const conversation = messages.flatMap(({ role, content }) => (role === "system" ? [] : [{ role, content }]));
  const requestIn = (wished: Format) => {
    const format = formatFor(schema, wished);
    return {
      system: systemFor(system.join("\n\n"), schema, format),
      messages: conversation,
      tools: new Map(),
      format,
      schema,
    };
  };
  return askModel(asking, requestIn, { chunk: () => {}, reasoning: () => {}, again: () => {} }, signal);
}
