import { AppError } from "../../protocol/errors.ts";
import type { Usage } from "../binding.ts";
import { PRICES, type PriceTable } from "../prices.ts";
import { RETRY_WORLD, type RetryWorld } from "../retrying.ts";
import { withinTime } from "../within-time.ts";
import type { Asking } from "./ask-model.ts";
import type { Format, ModelSettings } from "./model-settings.ts";
import { formatFor, systemFor } from "./prompt.ts";
import type { TakenTurn } from "./take-turn.ts";

export interface CompletionMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface Completion {
  /** Empty when the model said nothing. */
  readonly text: string;
  /** Why it stopped: `stop`, `length`, `content-filter`, … */
  readonly finish: string;
  readonly usage?: Usage;
}

/** A model without tools, for judges and reviewers. */
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

/** The settings stay in here: what is returned can be logged. */
export function completer(
  settings: ModelSettings,
  prices: readonly PriceTable[] = [PRICES],
  world: RetryWorld = RETRY_WORLD,
): Completer {
  const asking: Asking = { settings, prices, world, format: settings.format };
  const { timeoutMs } = settings;
  return {
    complete: async (messages, schema, signal) => {
      const tooSlow = (): TakenTurn => ({
        problem: { code: "agent_timeout", message: `no answer within ${timeoutMs} ms`, again: true },
      });
      const taken = await withinTime(timeoutMs, signal, (inTime) => ask(asking, messages, schema, inTime), tooSlow);
      if ("problem" in taken) throw new AppError("model_failed", { problem: taken.problem.message });
      const { text, finish, usage } = taken.turn;
      return { text, finish, ...(usage === undefined ? {} : { usage }) };
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
  const said = messages.flatMap(({ role, content }) => (role === "system" ? [] : [{ role, content }]));
  const requestIn = (wished: Format) => {
    const format = formatFor(schema, wished);
    return { system: systemFor(system.join("\n\n"), schema, format), messages: said, tools: new Map(), format, schema };
  };
  return askModel(asking, requestIn, { chunk: () => {}, reasoning: () => {}, again: () => {} }, signal);
}
