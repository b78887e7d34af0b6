import type { MessagePort } from "node:worker_threads";
import { idSource } from "../../engine/host.ts";
import { KnownValues } from "../../formats/secrets/known-values.ts";
import { loadRuleSet } from "../../formats/secrets/rule-set.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import type { Reviewer } from "../reviewer.ts";
import { takeHostTurn } from "./host-turn.ts";
import type { ReviewStore } from "./store-backend.ts";
import {
  type Answer,
  answerOf,
  errorMessage,
  type FromTurnThread,
  resultOf,
  type ToTurnThread,
  type TurnThreadData,
} from "./turns-apart.ts";

/**
 * Takes the turns of large artifacts in a thread: reading, reviewing and cleaning them takes seconds, in which a host would answer
 * no other request. The store stays where it is and is called over the port.
 */
export function takeTurnsOver(
  port: MessagePort,
  { backend, reviewLimitMs }: Pick<TurnThreadData, "backend" | "reviewLimitMs">,
  reviewers: readonly Reviewer[],
): void {
  const stop = new AbortController();
  const known = new KnownValues();
  const newId = idSource(Date.now);
  // Turns may wait for this: they are taken in the order in which they came.
  const ruleSet = loadRuleSet();
  const store = new StoreOver(port);
  const say = (message: FromTurnThread) => port.postMessage(message);

  const take = async ({ id, turn, secrets }: Extract<ToTurnThread, { type: "turn" }>): Promise<void> => {
    const answer = await answerOf(async () => {
      const more = await ruleSet;
      known.set(secrets);
      const host = { store: store.calls, nowMs: Date.now, newId, scrubber: scrubber({ known, more }) };
      return takeHostTurn({ host, reviewers, backend }, turn, {
        reviewLimitMs,
        signal: stop.signal,
        onFailure: (error) => say({ type: "failure", id, error: errorMessage(error) }),
      });
    });
    say({ type: "taken", id, answer });
  };

  port.on("message", (message: ToTurnThread) => {
    switch (message.type) {
      case "turn":
        return void take(message);
      case "answer":
        return store.answered(message.id, message.answer);
      case "stop":
        return stop.abort();
    }
  });
}

class StoreOver {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (answer: Answer<unknown>) => void>();
  #last = 0;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  readonly calls: ReviewStore = {
    readReview: (...args) => this.#call("readReview", args),
    latestReview: (...args) => this.#call("latestReview", args),
    reviewRounds: (...args) => this.#call("reviewRounds", args),
    claimReview: (...args) => this.#call("claimReview", args),
    renewReview: (...args) => this.#call("renewReview", args),
    releaseReview: (...args) => this.#call("releaseReview", args),
    commit: (...args) => this.#call("commit", args),
  };

  answered(id: number, answer: Answer<unknown>): void {
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
  }

  async #call<T>(method: keyof ReviewStore, args: readonly unknown[]): Promise<T> {
    const id = ++this.#last;
    const answer = new Promise<Answer<unknown>>((resolve) => this.#waiting.set(id, resolve));
    const message: FromTurnThread = { type: "call", id, method, args };
    this.#port.postMessage(message);
    return resultOf(await answer) as T;
  }
}
