import type { LanguageModelUsage } from "ai";
import type { Usage } from "../binding.ts";
import { costOf, type PriceTable, priceOf } from "../prices.ts";
import type { ModelSettings } from "./model-settings.ts";

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
