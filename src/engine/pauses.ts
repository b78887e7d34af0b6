import { setImmediate as nextTurn } from "node:timers/promises";

const MS_BETWEEN_PAUSES = 20;

/** A pause for work in steps, to be awaited between them: it lets other work in once the steps have taken some time. */
export function pauses(): () => Promise<void> {
  let pausedAtMs = performance.now();
  return async () => {
    if (performance.now() - pausedAtMs < MS_BETWEEN_PAUSES) return;
    await nextTurn();
    pausedAtMs = performance.now();
  };
}
