import { type RetryWorld, retrying, withinTime } from "../retrying.ts";
import { tooSlow } from "./model-problem.ts";
import type { Format, ModelSettings } from "./model-settings.ts";
import type { PriceTable } from "./prices.ts";
import { type TakenTurn, type TurnRequest, type TurnWatcher, takeTurn } from "./take-turn.ts";

/** How to ask a model; the format adapts to the server. */
export interface Asking {
  readonly settings: ModelSettings;
  readonly prices: readonly PriceTable[];
  readonly world: RetryWorld;
  /** The time limit of one attempt; without it only the signal limits. */
  readonly attemptMs?: number;
  /** Changes when the server turns out not to know the format. */
  format: Format;
}

export interface CallWatcher extends TurnWatcher {
  /** The call broke off; its events come again. */
  again(): void;
}

/**
 * One turn of a model, with as many attempts as are allowed. A server that does not support the requested format is asked in
 * words, now and in later turns. Rejects when the signal is aborted.
 */
export async function askModel(
  asking: Asking,
  requestIn: (format: Format) => TurnRequest,
  watcher: CallWatcher,
  signal: AbortSignal,
): Promise<TakenTurn> {
  const { settings, prices, world, attemptMs } = asking;
  const take = (request: TurnRequest): Promise<TakenTurn> => {
    const within = (inTime: AbortSignal) => takeTurn(settings, request, prices, watcher, inTime);
    if (attemptMs === undefined) return within(signal);
    return withinTime(attemptMs, signal, within, () => ({ problem: tooSlow(attemptMs) }));
  };
  const attempt = async (): Promise<TakenTurn> => {
    const request = requestIn(asking.format);
    const taken = await take(request);
    const isAskedForLess =
      "problem" in taken && taken.problem.isRefusedRequest && request.schema !== undefined && asking.format !== "words";
    if (!isAskedForLess) return taken;
    const plain = await take(requestIn("words"));
    // A success in words shows that the format was refused.
    if ("turn" in plain) asking.format = "words";
    return plain;
  };
  return retrying(settings, world, signal, async (count) => {
    if (count > 1) watcher.again();
    const taken = await attempt();
    if ("turn" in taken || !taken.problem.again) return { done: taken };
    return { again: true, retryAfter: taken.problem.retryAfter, last: taken };
  });
}
