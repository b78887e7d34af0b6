import type { Logger } from "pino";
import type { Store } from "../../store/port/store.ts";
import type { Shutdown } from "./shutdown.ts";

const EVERY_MS = 600_000;

/** Forgets what is kept for a time only: answers to repeated requests, records of effects. */
export function purgeFromTimeToTime(store: Store, log: Logger, shutdown: Shutdown): void {
  let purging: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    purging = store.purge(Date.now()).catch((error: unknown) => log.warn({ err: error }, "purge"));
  }, EVERY_MS);
  shutdown.add("purge", async () => {
    clearInterval(timer);
    await purging;
  });
}
