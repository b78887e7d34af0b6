import { type LogRecord, type LogSource, otlpLogs } from "../../formats/otlp/otlp-logs.ts";
import type { AnnotationChange } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";
import { traceIdOf } from "../runs/run-trace.ts";
import { judgmentRecord } from "./judgment-record.ts";
import { type Receiver, sendLogs } from "./send-logs.ts";

export interface ExportSettings extends Receiver {
  /** Whether what people wrote goes out too. */
  readonly content: boolean;
  readonly source: LogSource;
  readonly batchMax: number;
  /** How often the history is looked at even when nothing says that it went on. */
  readonly sweepMs: number;
  readonly retryFirstMs: number;
  readonly retryMaxMs: number;
  /** Between 0 and 1, so that several processes do not come back at the same moment. */
  readonly chance: () => number;
  onTrouble(reason: string): void;
  onError(error: unknown): void;
}

interface ExportStats {
  readonly exported: number;
  readonly rejected: number;
  readonly failures: number;
}

export interface JudgmentExport {
  stats(): ExportStats;
  stop(): Promise<void>;
}

/** How far the history of each tenant was passed on, under this name. */
const CURSOR = "otlp";
const START = { seq: 0, n: 0 };

/** A receiver that wants to be left alone for longer is asked again all the same. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/**
 * Passes judgments on as they are recorded, in the order of each tenant's history. A batch counts as passed on when the
 * receiver said so, and then its place is written down: after a crash the last batch may come once more, and none is
 * left out. While the receiver is away nothing piles up here, because the history is in the database.
 */
export function exportJudgments(host: Host, settings: ExportSettings): JudgmentExport {
  const cut = new AbortController();
  const stats = { exported: 0, rejected: 0, failures: 0 };
  let failures = 0;
  let wake: () => void = () => {};
  let isNew = true;
  const unsubscribe = host.store.onChange(({ annotations }) => {
    if (!annotations) return;
    isNew = true;
    wake();
  });

  /** The receiver wants to be left alone for a while when it says so, or does not answer well. */
  async function rest(retryAfterMs = 0): Promise<void> {
    const doubled = Math.min(settings.retryMaxMs, settings.retryFirstMs * 2 ** failures);
    failures += 1;
    await pause(Math.max(Math.min(retryAfterMs, RETRY_AFTER_MAX_MS), doubled * (0.5 + settings.chance() / 2)));
  }

  /** `wakeable` when news may end it. */
  function pause(ms: number, wakeable = false): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        cut.signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      cut.signal.addEventListener("abort", done);
      if (wakeable) wake = done;
      if (cut.signal.aborted) done();
    });
  }

  /** True when the receiver has them, or will never take them; false when the export was stopped first. */
  async function send(records: readonly LogRecord[]): Promise<boolean> {
    while (records.length > 0 && !cut.signal.aborted) {
      const body = otlpLogs(settings.source, host.nowMs(), records);
      const sent = await sendLogs(host.outbound, settings, body, cut.signal);
      if (sent.type === "taken") {
        failures = 0;
        stats.exported += records.length - sent.rejected;
        stats.rejected += sent.rejected;
        return true;
      }
      if (cut.signal.aborted) return false;
      stats.failures += 1;
      settings.onTrouble(sent.reason);
      if (sent.type === "later") {
        await rest(sent.retryAfterMs);
      } else if (records.length === 1) {
        stats.rejected += 1;
        return true;
      } else {
        const half = Math.ceil(records.length / 2);
        return (await send(records.slice(0, half))) && (await send(records.slice(half)));
      }
    }
    return records.length === 0;
  }

  async function catchUp(tenant: string): Promise<void> {
    while (!cut.signal.aborted) {
      const place = (await host.store.readCursor(CURSOR, tenant)) ?? START;
      const changes = await host.store.annotationChanges(tenant, place, settings.batchMax);
      const last = changes.at(-1);
      if (last === undefined || !(await send(await recordsOf(changes)))) return;
      await host.store.putCursor(CURSOR, tenant, last.place);
    }
  }

  async function recordsOf(changes: readonly AnnotationChange[]): Promise<LogRecord[]> {
    const traces = new Map<string, string>();
    const records: LogRecord[] = [];
    for (const change of changes) {
      const { runId, tenant } = change.annotation;
      // A run that was deleted since has the trace that follows from its id.
      const traceId = traces.get(runId) ?? traceIdOf((await host.store.readRun({ tenant }, runId)) ?? { runId });
      traces.set(runId, traceId);
      const record = judgmentRecord(change, { content: settings.content, scrubber: host.scrubber, traceId });
      if (record !== undefined) records.push(record);
    }
    return records;
  }

  async function work(): Promise<void> {
    while (!cut.signal.aborted) {
      isNew = false;
      try {
        for (const tenant of await host.store.tenantsBehind(CURSOR)) await catchUp(tenant);
      } catch (error) {
        // The database is away; requests say so as well.
        settings.onError(error);
        await rest();
      }
      if (!isNew) await pause(settings.sweepMs, true);
    }
  }

  const working = work();
  return {
    stats: () => ({ ...stats }),
    async stop() {
      unsubscribe();
      cut.abort();
      await working;
    },
  };
}
