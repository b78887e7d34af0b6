import { rejectedRecords } from "../../formats/otlp/otlp-logs.ts";
import { callOut } from "../outbound/call-out.ts";
import type { Outbound } from "../outbound/guard.ts";

export interface Receiver {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** `too-much` is about this very batch: a smaller one may do. `later` is about the receiver. */
type Sent =
  | { readonly type: "taken"; readonly rejected: number }
  | { readonly type: "too-much"; readonly reason: string }
  | { readonly type: "later"; readonly reason: string; readonly retryAfterMs?: number };

const MAX_ANSWER_BYTES = 65_536;

/** What is wrong with what was sent, and stays wrong however often it is sent. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Posts a batch. The operator chose the receiver, so it may well be in the same private network. */
export async function sendLogs(
  outbound: Outbound,
  { url, headers }: Receiver,
  body: string,
  signal: AbortSignal,
): Promise<Sent> {
  const { timeoutMs, userAgent } = outbound;
  const answer = await callOut(
    { ...outbound, allowPrivate: true },
    {
      url,
      headers: { ...headers, "content-type": "application/json", "user-agent": userAgent },
      body,
      timeoutMs,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      signal,
    },
  );
  if ("failure" in answer) return { type: "later", reason: answer.failure };
  const { status, retryAfter } = answer;
  if (status >= 200 && status < 300) return { type: "taken", rejected: rejectedRecords(answer.body.toString("utf8")) };
  const reason = `the receiver answered ${status}`;
  if (REFUSED.has(status)) return { type: "too-much", reason };
  const seconds = retryAfter === undefined ? undefined : secondsOf(retryAfter);
  return { type: "later", reason, ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }) };
}

/** Seconds, or the time at which to try again. */
function secondsOf(retryAfter: string): number | undefined {
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter);
  const atMs = Date.parse(retryAfter);
  return Number.isNaN(atMs) ? undefined : Math.max(0, (atMs - Date.now()) / 1000);
}
