import { defined } from "../../protocol/defined.ts";
import type { ExternalEventRecord } from "../../store/port/gates.ts";
import type { Host } from "../host.ts";
import { eventOf, keyOf } from "./event-record.ts";
import { deliverHeld } from "./held-events.ts";

export interface SweepSettings {
  readonly everyMs: number;
  onError(error: unknown): void;
}

const PAGE = 100;

/** How many events one sweep looks at; the next goes on after them. */
const SWEPT_AT_ONCE = 1000;

/**
 * How long an event that those who wait cannot take is left alone, and how many such events are known. Whoever comes
 * to wait looks for it by themselves, so that this is about who died before they could.
 */
const LEFT_ALONE_MS = 600_000;
const LEFT_ALONE_MAX = 10_000;

/** Delivers what processes that are gone left lying: at the start, and from time to time. Any number may do so. */
export function sweepHeldEvents(host: Host, { everyMs, onError }: SweepSettings): { stop(): Promise<void> } {
  const leftAlone = new Set<string>();
  let leftAloneSinceMs = host.nowMs();
  let after: ExternalEventRecord | undefined;
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();

  const deliver = async (held: ExternalEventRecord): Promise<void> => {
    const name = JSON.stringify(keyOf(eventOf(held)));
    if (stopping || leftAlone.has(name)) return;
    if ((await deliverHeld(host, held)) === "not-taken") leftAlone.add(name);
  };
  const sweep = async (): Promise<void> => {
    const nowMs = host.nowMs();
    if (nowMs - leftAloneSinceMs >= LEFT_ALONE_MS || leftAlone.size > LEFT_ALONE_MAX) {
      leftAlone.clear();
      leftAloneSinceMs = nowMs;
    }
    for (let swept = 0; swept < SWEPT_AT_ONCE && !stopping; swept += PAGE) {
      const page = await host.store.heldEvents(defined({ nowMs, limit: PAGE, after }));
      for (const held of page) await deliver(held).catch(onError);
      after = page.length < PAGE ? undefined : page.at(-1);
      if (after === undefined) return;
    }
  };
  const again = (): void => {
    sweeping = sweep()
      .catch(onError)
      .then(() => {
        if (!stopping) timer = setTimeout(again, everyMs);
      });
  };
  again();

  return {
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}
