import type { Host } from "../engine/host.ts";
import { idSource } from "../engine/host.ts";
import type { Store } from "../store/port/store.ts";
import { NOW } from "./builders.ts";
import { engineOn, tokensAt } from "./engine.ts";

/** The engine on a real store, in a time that only the test moves. */
export function hostAt(store: Store, startMs = NOW): Host & { pass(ms: number): void } {
  let now = startMs;
  const nowMs = () => now;
  return {
    ...engineOn(store),
    nowMs,
    tokens: tokensAt(nowMs),
    newId: idSource(nowMs),
    pass: (ms) => {
      now += ms;
    },
  };
}
