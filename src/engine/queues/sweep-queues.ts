import type { Host } from "../host.ts";
import { fillQueue } from "./fill-queue.ts";
import { queueOf } from "./queue-record.ts";

interface QueueSweepSettings {
  readonly everyMs: number;
  onError(error: unknown): void;
}

const PAGE = 100;

/** Fills queues that nobody looks at, from time to time: their first reviewer need not wait for a long past. */
export function sweepQueues(host: Host, { everyMs, onError }: QueueSweepSettings): { stop(): Promise<void> } {
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();

  const sweep = async (): Promise<void> => {
    for (let after: string | undefined = ""; after !== undefined && !stopping; ) {
      const page = await host.store.queuesAfter(after, PAGE);
      for (const record of page) if (!stopping) await fillQueue(host, queueOf(record)).catch(onError);
      after = page.length < PAGE ? undefined : page.at(-1)?.queueId;
    }
  };
  const again = (): void => {
    sweeping = sweep()
      .catch(onError)
      .then(() => {
        if (!stopping) timer = setTimeout(again, everyMs);
      });
  };
  timer = setTimeout(again, everyMs);

  return {
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}
