import { type LogRecord, type LogSource, otlpLogs, rejectedRecords } from "../../formats/otlp/otlp-logs.ts";
import { defined } from "../../protocol/defined.ts";
import type { AnnotationChange } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";
import { callOut } from "../outbound/call-out.ts";
import type { Outbound } from "../outbound/guard.ts";
import { retryAfterMs } from "../outbound/retry-wait.ts";
import { traceIdOf } from "../runs/run-trace.ts";
import { judgmentRecord } from "./judgment-record.ts";

export interface ExportSettings extends Receiver {
  /** Whether texts of people are exported too. */
  readonly content: boolean;
  readonly source: LogSource;
  readonly batchMax: number;
  /** How often the history is read without a notification. */
  readonly sweepMs: number;
  readonly retryFirstMs: number;
  readonly retryMaxMs: number;
  /** From 0 to 1, so that several processes do not retry at the same time. */
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

/** The name of the cursors, which are the exported position in each tenant's history. */
const CURSOR = "otlp";
const START = { seq: 0, n: 0 };

/** The longest wait that a receiver can ask for. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/**
 * Exports judgments as they are recorded, in the order of each tenant's history. The position is stored when the receiver has accepted a batch: after a
 * crash the last batch may be sent once more, and none is left out. The history is in the database, so nothing accumulates while the receiver is away.
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

  /** Waits after a failure, at least as long as the receiver asks for. */
  async function rest(retryAfterMs = 0): Promise<void> {
    const doubled = Math.min(settings.retryMaxMs, settings.retryFirstMs * 2 ** failures);
    failures += 1;
    await pause(Math.max(Math.min(retryAfterMs, RETRY_AFTER_MAX_MS), doubled * (0.5 + settings.chance() / 2)));
  }

  /** Waits; with `wakeable`, new judgments end the wait. */
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

  /** Sends records; true where the receiver has accepted or finally refused them, false where the export was stopped first. */
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
      // A deleted run has the trace that is derived from its id.
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
        // The database is away.
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

interface Receiver {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The result of a batch. After `too-much` a smaller batch may be accepted; `later` is about the receiver. */
type Sent =
  | { readonly type: "taken"; readonly rejected: number }
  | { readonly type: "too-much"; readonly reason: string }
  | { readonly type: "later"; readonly reason: string; readonly retryAfterMs?: number };

const MAX_ANSWER_BYTES = 65_536;

/** Statuses of a receiver that will not accept this batch. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Posts a batch. The operator chose the receiver, so it may be in a private network. */
async function sendLogs(
  outbound: Outbound,
  { url, headers }: Receiver,
  body: string,
  signal: AbortSignal,
): Promise<Sent> {
  const { timeoutMs, userAgent } = outbound;
  const sent = { ...headers, "content-type": "application/json", "user-agent": userAgent };
  const call = { url, headers: sent, body, timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES, signal };
  const answer = await callOut({ ...outbound, allowPrivate: true }, call);
  if ("failure" in answer) return { type: "later", reason: answer.failure };
  const { status, retryAfter } = answer;
  if (status >= 200 && status < 300) return { type: "taken", rejected: rejectedRecords(answer.body.toString("utf8")) };
  const reason = `the receiver answered ${status}`;
  if (REFUSED.has(status)) return { type: "too-much", reason };
  const askedMs = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, Date.now());
  return { type: "later", reason, ...defined({ retryAfterMs: askedMs }) };
}
