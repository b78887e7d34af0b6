import { type Static, Type } from "../protocol/schema.ts";
import type { Usage } from "./binding.ts";

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

/** By `provider/model`, or by `model` alone whoever serves it. */
export type PriceTable = Readonly<Record<string, Price>>;

/** When the list prices below were looked up. They change; a table in the agents file overrides them. */
export const PRICES_AS_OF = "2025-11-01";

/** It asks a tenth for input that is cached, and a quarter more for input to be cached. */
const anthropic = (input: number, output: number): Price => ({
  input,
  output,
  cacheRead: input / 10,
  cacheWrite: input * 1.25,
});

/** List prices of the providers' own endpoints. What somebody else serves has a price of its own and none here. */
export const PRICES: PriceTable = {
  "openai/gpt-5": { input: 1.25, output: 10, cacheRead: 0.125 },
  "openai/gpt-5-mini": { input: 0.25, output: 2, cacheRead: 0.025 },
  "openai/gpt-5-nano": { input: 0.05, output: 0.4, cacheRead: 0.005 },
  "openai/gpt-4.1": { input: 2, output: 8, cacheRead: 0.5 },
  "openai/gpt-4.1-mini": { input: 0.4, output: 1.6, cacheRead: 0.1 },
  "openai/gpt-4.1-nano": { input: 0.1, output: 0.4, cacheRead: 0.025 },
  "openai/gpt-4o": { input: 2.5, output: 10, cacheRead: 1.25 },
  "openai/gpt-4o-mini": { input: 0.15, output: 0.6, cacheRead: 0.075 },
  "openai/o3": { input: 2, output: 8, cacheRead: 0.5 },
  "openai/o4-mini": { input: 1.1, output: 4.4, cacheRead: 0.275 },
  "anthropic/claude-opus-4-5": anthropic(5, 25),
  "anthropic/claude-opus-4-1": anthropic(15, 75),
  "anthropic/claude-sonnet-4-5": anthropic(3, 15),
  "anthropic/claude-sonnet-4": anthropic(3, 15),
  "anthropic/claude-haiku-4-5": anthropic(1, 5),
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

/** What cached tokens cost where no price of their own is known: as much as any other, so that no cost is told too low. */
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
