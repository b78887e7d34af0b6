/** What a generator comes to, without pauses. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** How many times a generator lets others have their turn. */
export function turnsOf(steps: Generator<void, unknown>): number {
  for (let turns = 0; ; turns += 1) if (steps.next().done === true) return turns;
}
