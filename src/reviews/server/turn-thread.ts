import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { idSource } from "../../engine/host.ts";
import { KnownValues } from "../../formats/known-values.ts";
import { loadRuleSet } from "../../formats/rule-set.ts";
import { scrubber } from "../../formats/scrub.ts";
import { boundReviewer } from "../reviewers/bound-reviewer.ts";
import type { ReviewStore } from "../store-home.ts";
import { takeHostTurn } from "./host-turn.ts";
import {
  type Answer,
  answerOf,
  errorMessage,
  type FromTurnThread,
  resultOf,
  type ToTurnThread,
  type TurnThreadData,
} from "./turn-messages.ts";

/**
 * The thread that takes the turns of large artifacts: reading, reviewing and cleaning them takes seconds, in which a host would answer
 * nobody else. The store stays where it is and is called over the port.
 */
const port = parentPort;
if (port === null) throw new Error("turn-thread.ts runs as a worker thread only");

const { reviewers: bindings, home, reviewLimitMs } = workerData as TurnThreadData;
const reviewers = bindings.map(boundReviewer);
const stop = new AbortController();
const known = new KnownValues();
const newId = idSource(Date.now);
const calls = new Map<number, (answer: Answer<unknown>) => void>();
// Turns may wait for this: they are taken in the order in which they came.
const ruleSet = loadRuleSet();

port.on("message", (message: ToTurnThread) => {
  switch (message.type) {
    case "turn":
      return void take(port, message);
    case "answer":
      calls.get(message.id)?.(message.answer);
      return void calls.delete(message.id);
    case "stop":
      return stop.abort();
  }
});

async function take(to: MessagePort, { id, turn, secrets }: Extract<ToTurnThread, { type: "turn" }>): Promise<void> {
  const say = (message: FromTurnThread) => to.postMessage(message);
  const answer = await answerOf(async () => {
    const more = await ruleSet;
    known.set(secrets);
    const host = { store: storeOver(say), nowMs: Date.now, newId, scrubber: scrubber({ known, more }) };
    return takeHostTurn({ host, reviewers, home }, turn, {
      reviewLimitMs,
      signal: stop.signal,
      onFailure: (error) => say({ type: "failure", id, error: errorMessage(error) }),
    });
  });
  say({ type: "taken", id, answer });
}

let lastCall = 0;

function storeOver(say: (message: FromTurnThread) => void): ReviewStore {
  async function call<T>(method: keyof ReviewStore, args: readonly unknown[]): Promise<T> {
    const id = ++lastCall;
    const answer = new Promise<Answer<unknown>>((resolve) => calls.set(id, resolve));
    say({ type: "call", id, method, args });
    return resultOf(await answer) as T;
  }
  return {
    readReview: (...args) => call("readReview", args),
    latestReview: (...args) => call("latestReview", args),
    reviewRounds: (...args) => call("reviewRounds", args),
    claimReview: (...args) => call("claimReview", args),
    renewReview: (...args) => call("renewReview", args),
    releaseReview: (...args) => call("releaseReview", args),
    commit: (...args) => call("commit", args),
  };
}
