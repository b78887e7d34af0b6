import type { LanguageModelUsage } from "ai";
import type { Usage } from "../binding.ts";
import { costOf, type PriceTable, priceOf } from "../prices.ts";
import type { ModelSettings } from "./model-settings.ts";

/** Undefined when the server did not say. */
export function usageOf(
  { providerName: provider, model }: ModelSettings,
  told: LanguageModelUsage,
  prices: readonly PriceTable[],
): Usage | undefined {
  const { inputTokens, outputTokens, inputTokenDetails } = told;
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

/** Of a call of which the server does not say what it used. Nobody knows what it cost, unless it cannot cost anything. */
export function unmetered({ providerName: provider, model }: ModelSettings, prices: readonly PriceTable[]): Usage {
  const price = priceOf(provider, model, prices);
  const isFree = price !== undefined && Object.values(price).every((amount) => amount === 0);
  return { provider, model, inputTokens: 0, outputTokens: 0, ...(isFree ? { costUsd: 0 } : {}) };
}
