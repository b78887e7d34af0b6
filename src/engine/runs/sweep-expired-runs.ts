import type { AuditDraft } from "../../protocol/audit/audit.ts";
import type { Host } from "../host.ts";
import { deleting, partsOf } from "./delete-run.ts";

const DAY_MS = 86_400_000;

/** Runs looked up at once; each is a commit of its own, so that requests get their turn in between. */
const PAGE = 100;

interface RetentionSettings {
  /** For workflows that say nothing about it; 0 is for ever. */
  readonly defaultDays: number;
  readonly everyMs: number;
  onError(error: unknown): void;
  /** How many runs a sweep removed, when there were any. */
  onSwept(runs: number): void;
}

/** At the start, and from time to time. Any number of processes may do so. */
export function sweepExpiredRuns(
  host: Pick<Host, "store" | "nowMs">,
  { defaultDays, everyMs, onError, onSwept }: RetentionSettings,
): { stop(): Promise<void> } {
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();

  const again = (): void => {
    sweeping = removeExpiredRuns(host, defaultDays, () => stopping)
      .then((runs) => (runs > 0 ? onSwept(runs) : undefined), onError)
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

/**
 * Removes the runs whose retention is over, with those they dispatched, and says how many went. Where something goes on
 * below a run, it is left for the next time.
 */
export async function removeExpiredRuns(
  host: Pick<Host, "store" | "nowMs">,
  defaultDays: number,
  stopping: () => boolean = () => false,
): Promise<number> {
  let removed = 0;
  for (const { tenant, workflowId } of await host.store.runWorkflows()) {
    if (stopping()) break;
    const days = (await retentionDaysOf(host, tenant, workflowId)) ?? defaultDays;
    if (days > 0) removed += await removeExpired(host, { tenant, workflowId, days }, stopping);
  }
  return removed;
}

/** As the newest definition has it, so that a change of mind holds for runs that are there already. */
async function retentionDaysOf(
  { store }: Pick<Host, "store">,
  tenant: string,
  workflowId: string,
): Promise<number | undefined> {
  const workflow = await store.readWorkflow(tenant, workflowId);
  if (workflow === undefined) return undefined;
  const { settings } = JSON.parse(workflow.definition) as { settings?: { retentionDays?: unknown } };
  const days = settings?.retentionDays;
  return typeof days === "number" ? days : undefined;
}

interface Expiry {
  readonly tenant: string;
  readonly workflowId: string;
  readonly days: number;
}

async function removeExpired(
  host: Pick<Host, "store" | "nowMs">,
  { tenant, workflowId, days }: Expiry,
  stopping: () => boolean,
): Promise<number> {
  const endedBeforeMs = host.nowMs() - days * DAY_MS;
  let removed = 0;
  for (let after = ""; ; ) {
    const page = await host.store.expiredRuns({ tenant, workflowId, endedBeforeMs, limit: PAGE, after });
    for (const runId of page) {
      if (stopping()) return removed;
      removed += await expire(host, tenant, runId);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return removed;
    after = last;
  }
}

/** How many runs went. None where another process was first, or where something below has not ended. */
async function expire({ store, nowMs }: Pick<Host, "store" | "nowMs">, tenant: string, runId: string): Promise<number> {
  const deletion = await store.deletionOf({ tenant }, runId);
  if (deletion === undefined || deletion.active.length > 0) return 0;
  const atMs = nowMs();
  const occurredAt = new Date(atMs).toISOString();
  let gone = 0;
  for (const { runs, entries } of partsOf(deletion, "expired")) {
    const audit = entries.map((entry): AuditDraft => ({ ...entry, occurredAt, actor: "host" }));
    const committed = await store.commit({ ...deleting(tenant, { runs }, { reason: "expired", atMs }), audit });
    if (!committed.ok) break;
    gone += runs.length;
  }
  return gone;
}
