import type { KeyRecord } from "../../store/port/store.ts";
import { auditDraft } from "../execute.ts";
import type { Host } from "../host.ts";
import { atMostEvery } from "../shared/at-most-every.ts";
import { onceOnly } from "../shared/once-only.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

interface KeyUses {
  /** Returns at once; the request neither waits for the note nor fails with it. */
  note(key: KeyRecord, nowMs: number): void;
  settled(): Promise<void>;
}

/**
 * Notes that keys are used: the time at most once per minute, the audit entry on first use and then at most once per
 * day, over all processes and restarts. A note that fails is made up for by a use a minute later.
 */
export function keyUses({ store }: Pick<Host, "store">, onTrouble: (error: unknown) => void): KeyUses {
  const due = atMostEvery(MINUTE_MS);
  const underWay = new Set<Promise<void>>();

  async function write({ tenant, principal, keyId }: KeyRecord, nowMs: number): Promise<void> {
    const used = { type: "used", keyId, atMs: nowMs } as const;
    const audited = await store.commit({
      tenant,
      keys: [used],
      audit: [auditDraft({ principal, keyId }, nowMs, keyId, { action: "key.used", details: {} })],
      idempotency: onceOnly({ tenant, what: "key.used", subject: keyId, nowMs, forMs: DAY_MS }),
    });
    if (!audited.ok) await store.commit({ tenant, keys: [used] });
  }

  return {
    note(key, nowMs) {
      const last = key.lastUsedAtMs;
      const notedElsewhere = last !== undefined && nowMs >= last && nowMs - last < MINUTE_MS;
      if (notedElsewhere || !due(key.keyId, nowMs)) return;
      const writing = write(key, nowMs)
        .catch(onTrouble)
        .finally(() => underWay.delete(writing));
      underWay.add(writing);
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}
