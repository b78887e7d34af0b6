import type { LanguageModelUsage } from "ai";
import { type Static, Type } from "../../protocol/schema.ts";
import type { Usage } from "../binding.ts";
import type { ModelSettings } from "./model-settings.ts";

const amount = Type.Number({ minimum: 0 });

/** In US dollars for a million tokens. */
export const Price = Type.Object(
  {
    input: amount,
    output: amount,
    cacheRead: Type.Optional(amount),
    cacheWrite: Type.Optional(amount),
  },
  { additionalProperties: false },
);
export type Price = Static<typeof Price>;

/** By `provider/model`, or by `model` alone for any provider. */
export type PriceTable = Readonly<Record<string, Price>>;

/**
 * The date of the list prices below, from the open table @pydantic/genai-prices 0.1.8. Prices change, and some are higher for very
 * long prompts; a table in the agents file overrides them.
 */
export const PRICES_AS_OF = "2026-09-23";

/** Both ask a tenth for input that is cached; what writing to the cache costs differs by generation. */
const cached = (input: number, output: number): Price => ({ input, output, cacheRead: input / 10 });
const cachedAtAPremium = (input: number, output: number): Price => ({
  ...cached(input, output),
  cacheWrite: input * 1.25,
});

/** List prices of the providers' own endpoints. Models on other endpoints have prices of their own and none here. */
export const PRICES: PriceTable = {
  "openai/gpt-6-astra": cachedAtAPremium(10, 50),
  "openai/gpt-6-sol": cachedAtAPremium(2, 10),
  "openai/gpt-6-luna": cachedAtAPremium(0.1, 0.5),
  "openai/gpt-5.6-sol": cachedAtAPremium(4, 20),
  "openai/gpt-5.6-terra": cachedAtAPremium(2, 12),
  "openai/gpt-5.6-luna": cachedAtAPremium(0.2, 1.2),
  "openai/gpt-5.5": cached(5, 30),
  "openai/gpt-5.4": cached(2.5, 15),
  "openai/gpt-5.4-mini": cached(0.75, 4.5),
  "openai/gpt-5.4-nano": cached(0.2, 1.25),
  "openai/gpt-5.3": cached(1.75, 14),
  "openai/gpt-5.2": cached(1.75, 14),
  "openai/gpt-5.1": cached(1.25, 10),
  "openai/gpt-5": cached(1.25, 10),
  "openai/gpt-5-mini": cached(0.25, 2),
  "openai/gpt-5-nano": cached(0.05, 0.4),
  "openai/gpt-4.1": { input: 2, output: 8, cacheRead: 0.5 },
  "openai/gpt-4.1-mini": { input: 0.4, output: 1.6, cacheRead: 0.1 },
  "openai/gpt-4.1-nano": { input: 0.1, output: 0.4, cacheRead: 0.025 },
  "openai/gpt-4o": { input: 2.5, output: 10, cacheRead: 1.25 },
  "openai/gpt-4o-2024-05-13": { input: 5, output: 15 },
  "openai/gpt-4o-mini": { input: 0.15, output: 0.6, cacheRead: 0.075 },
  "openai/o3": { input: 2, output: 8, cacheRead: 0.5 },
  "openai/o4-mini": { input: 1.1, output: 4.4, cacheRead: 0.275 },
  "anthropic/claude-fable-5": cachedAtAPremium(10, 50),
  "anthropic/claude-fable-5-1": { ...cachedAtAPremium(10, 50), cacheRead: 0.25 },
  "anthropic/claude-opus-5-5": { ...cachedAtAPremium(4, 20), cacheRead: 0.2 },
  "anthropic/claude-opus-5": cachedAtAPremium(5, 25),
  "anthropic/claude-opus-4-8": cachedAtAPremium(5, 25),
  "anthropic/claude-opus-4-7": cachedAtAPremium(5, 25),
  "anthropic/claude-opus-4-6": cachedAtAPremium(5, 25),
  "anthropic/claude-opus-4-5": cachedAtAPremium(5, 25),
  "anthropic/claude-opus-4-1": cachedAtAPremium(15, 75),
  "anthropic/claude-sonnet-5": cachedAtAPremium(2, 10),
  "anthropic/claude-sonnet-4-6": cachedAtAPremium(3, 15),
  "anthropic/claude-sonnet-4-5": cachedAtAPremium(3, 15),
  "anthropic/claude-sonnet-4-0": cachedAtAPremium(3, 15),
  "anthropic/claude-sonnet-4": cachedAtAPremium(3, 15),
  "anthropic/claude-haiku-4-5": cachedAtAPremium(1, 5),
};

/** The price of a model in the first table that has one, undefined when none has. A dated name is priced like the one without its date. */
export function priceOf(provider: string, model: string, tables: readonly PriceTable[] = [PRICES]): Price | undefined {
  const undated = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, "");
  const names = [`${provider}/${model}`, model, `${provider}/${undated}`, undated];
  for (const table of tables) {
    const name = names.find((one) => Object.hasOwn(table, one));
    if (name !== undefined) return table[name];
  }
  return undefined;
}

/** The cost of tokens. Cached tokens without a known price cost as much as all others, so that no cost is too low. */
export function costOf(price: Price, tokens: Omit<Usage, "provider" | "model" | "costUsd">): number {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = tokens;
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const total =
    plain * price.input +
    cacheReadTokens * (price.cacheRead ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return total / 1_000_000;
}

/** Undefined when the server reported none. */
export function usageOf(
  { providerName: provider, model }: ModelSettings,
  reported: LanguageModelUsage,
  prices: readonly PriceTable[],
): Usage | undefined {
  const { inputTokens, outputTokens, inputTokenDetails } = reported;
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const { cacheReadTokens, cacheWriteTokens } = inputTokenDetails;
  const tokens = {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...(cacheReadTokens ? { cacheReadTokens } : {}),
    ...(cacheWriteTokens ? { cacheWriteTokens } : {}),
  };
  const price = priceOf(provider, model, prices);
  return { provider, model, ...tokens, ...(price === undefined ? {} : { costUsd: costOf(price, tokens) }) };
}

/** The usage of a call for which the server reports none. The cost is unknown, unless the model is free. */
export function unmetered({ providerName: provider, model }: ModelSettings, prices: readonly PriceTable[]): Usage {
  const price = priceOf(provider, model, prices);
  const isFree = price !== undefined && Object.values(price).every((amount) => amount === 0);
  return { provider, model, inputTokens: 0, outputTokens: 0, ...(isFree ? { costUsd: 0 } : {}) };
}
