import type { EventDraft } from "../protocol/events.ts";
import type { Usage } from "./binding.ts";

export function usageEvent(nodeId: string, { costUsd, ...used }: Usage): EventDraft {
  const cost = costUsd === undefined ? {} : { costEstimateUsd: costUsd, currency: "USD" };
  const totalTokens = used.inputTokens + used.outputTokens;
  return { type: "provider.usage", nodeId, payload: { ...used, totalTokens, ...cost, nodeId } };
}

/** Undefined as soon as one price is unknown: a partial sum would look complete. */
export function totalCost(parts: readonly { readonly costUsd?: number | undefined }[]): number | undefined {
  let sum = 0;
  for (const { costUsd } of parts) {
    if (costUsd === undefined) return undefined;
    sum += costUsd;
  }
  return sum;
}
