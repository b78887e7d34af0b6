import { setTimeout as sleep } from "node:timers/promises";
import { defined } from "../../protocol/defined.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { type TurnOptions, type TurnTaken, takeTurn } from "../provider/take-turn.ts";
import type { Reviewer } from "../reviewer.ts";
import { cleaningOnce, cleanResponse, cleanReviewer } from "./clean-review.ts";
import { withinLimits } from "./session-limits.ts";
import { type StoreBackendOf, type StoreBackendSettings, storeBackend } from "./store-backend.ts";

/** One turn of a caller with the provider of a host. Plain data, so that it can be passed to a thread. */
export interface HostTurn {
  readonly caller: Caller;
  /** The name of a known reviewer. */
  readonly agent: string;
  /** The request as it came. */
  readonly bytes: Uint8Array;
  /** Empty ids are unknown sessions: a caller that lost its id would otherwise begin again without noticing. */
  readonly session?: string;
  /** Go on with the session that the caller used last, or begin one when there is none. */
  readonly goesOn?: boolean;
  /** Go on in a copy of the session. */
  readonly fork?: boolean;
}

export interface HostReviews {
  readonly host: StoreBackendOf["host"];
  readonly reviewers: readonly Reviewer[];
  readonly backend?: Partial<StoreBackendSettings> | undefined;
}

export async function takeHostTurn(
  { host, reviewers, backend: settings }: HostReviews,
  { caller, agent, bytes, session: named, goesOn = false, fork = false }: HostTurn,
  options: TurnOptions = {},
): Promise<TurnTaken> {
  const { store, nowMs, newId } = host;
  const scrubber = cleaningOnce(host.scrubber);
  const backend = storeBackend({ host: { store, nowMs, newId, scrubber }, caller, agent }, settings);
  const session = named ?? (goesOn ? await backend.latest() : undefined);
  const clean = reviewers.map((one) => cleanReviewer(one, scrubber));
  const asked = { bytes, agent, fork, ...defined({ session }) };
  const taken = await takeTurn(backend, clean, asked, { ...options, check: withinLimits });
  // The stored form: the answer repeats ids and names of the request, and a repeated request gets the same answer.
  return taken.type === "answered" ? { ...taken, response: cleanResponse(taken.response, scrubber) } : taken;
}

/** The time for aborted turns to end their programs. */
const ENDING_MS = 4_000;

/**
 * Turns that are being taken. A host that shuts down aborts them, and with them the programs that review: no other process would
 * end those.
 */
export class TurnsUnderWay {
  readonly #stop = new AbortController();
  readonly #turns = new Set<Promise<unknown>>();

  /** Aborted when they are given up. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  async during<T>(turn: Promise<T>): Promise<T> {
    this.#turns.add(turn);
    try {
      return await turn;
    } finally {
      this.#turns.delete(turn);
    }
  }

  /** Lets them finish for a while first. */
  async close(graceMs: number): Promise<void> {
    await this.#settled(graceMs);
    this.#stop.abort();
    await this.#settled(ENDING_MS);
  }

  async #settled(atMostMs: number): Promise<void> {
    const over = new AbortController();
    const limit = sleep(atMostMs, undefined, { signal: over.signal }).catch(() => {});
    await Promise.race([Promise.allSettled(this.#turns), limit]);
    over.abort();
  }
}
