const MS_BETWEEN_PAUSES = 20;

const line: (() => void)[] = [];

/**
 * Waits for a turn of the event loop that no other caller of this function continues in. With separate pauses, all would continue in one turn:
 * fifty requests of 20 ms each would block the process for a second.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    line.push(resolve);
    if (line.length === 1) setImmediate(serve);
  });
}

function serve(): void {
  line.shift()?.();
  if (line.length > 0) setImmediate(serve);
}

let turnBeganMs: number | undefined;

/**
 * Whether this turn of the event loop has lasted long enough since the first call in it to `await ownTurn()`. To be called right before work of
 * unknown cost.
 */
export function isTurnSpent(): boolean {
  if (turnBeganMs !== undefined) return performance.now() - turnBeganMs >= MS_BETWEEN_PAUSES;
  turnBeganMs = performance.now();
  setImmediate(() => {
    turnBeganMs = undefined;
  });
  return false;
}

/** A pause to be awaited between steps of work: it lets other work continue once the steps have taken some time. */
export function pauses(): () => Promise<void> {
  let pausedAtMs = performance.now();
  return async () => {
    if (performance.now() - pausedAtMs < MS_BETWEEN_PAUSES) return;
    await ownTurn();
    pausedAtMs = performance.now();
  };
}

/** Runs a generator to its result, with a pause after each step. */
export async function inTurns<T>(steps: Generator<void, T>, pause = pauses()): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}
