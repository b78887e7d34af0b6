/** A task that repeats until it is stopped; `stop` resolves when the task is not running any more. */
export interface Sweep {
  stop(): Promise<void>;
}

export interface SweepSettings {
  readonly everyMs: number;
  onError(error: unknown): void;
}

/**
 * Runs a task, and again `everyMs` after each end of it. The first run is at once, or after `everyMs` with `delayed`. The task is given a
 * function that says whether the sweep is stopping, to be asked between its steps.
 */
export function startSweep(
  { everyMs, onError }: SweepSettings,
  task: (isStopping: () => boolean) => Promise<void>,
  { delayed = false } = {},
): Sweep {
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const run = (): void => {
    running = task(() => stopping)
      .catch(onError)
      .then(() => {
        if (!stopping) timer = setTimeout(run, everyMs);
      });
  };
  if (delayed) timer = setTimeout(run, everyMs);
  else run();
  return {
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await running;
    },
  };
}
