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

/** The result of work that a generator does in steps, with a pause after each. */
export async function inTurns<T>(steps: Generator<void, T>, pause = pauses()): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}
