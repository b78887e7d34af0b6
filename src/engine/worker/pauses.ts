const MS_BETWEEN_PAUSES = 20;

const line: (() => void)[] = [];

/**
 * A turn of the event loop in which no other work that asked here goes on. After a pause that is not shared like this, all who paused
 * go on in one turn: fifty requests of 20 ms each are a second in which nothing else is done.
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
 * Whether this turn of the event loop has lasted some time since this was first asked in it; then `await ownTurn()`. To be asked right before work
 * whose cost is not known: where others have their answer before the work of the first is done, all of it is in one turn.
 */
export function isTurnSpent(): boolean {
  if (turnBeganMs !== undefined) return performance.now() - turnBeganMs >= MS_BETWEEN_PAUSES;
  turnBeganMs = performance.now();
  setImmediate(() => {
    turnBeganMs = undefined;
  });
  return false;
}

/** A pause for work in steps, to be awaited between them: it lets other work in once the steps have taken some time. */
export function pauses(): () => Promise<void> {
  let pausedAtMs = performance.now();
  return async () => {
    if (performance.now() - pausedAtMs < MS_BETWEEN_PAUSES) return;
    await ownTurn();
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
