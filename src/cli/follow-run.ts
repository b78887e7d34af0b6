import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../protocol/errors.ts";
import type { RunEventDoc } from "../protocol/events.ts";
import type { Client } from "./client.ts";
import { type Frame, readFrames } from "./server-sent-events.ts";

export interface Following {
  readonly runId: string;
  readonly mode: "updates" | "debug";
  onEvent(event: RunEventDoc): void;
  /** A connection that had worked is gone and will be tried again. */
  onReconnect?(reason: string): void;
  readonly signal: AbortSignal;
  /** How long to try before giving up on a server that had answered before. */
  readonly patienceMs?: number;
  readonly firstDelayMs?: number;
}

const PATIENCE_MS = 60_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;

/**
 * Hands over every event of a run in order, once each, from the first to the last; returns the type of the last.
 * Undefined when `signal` ended it. A server that never answered is an error at once; one that went away is tried
 * again, from the event after the last one seen.
 */
export async function followRun(client: Client, following: Following): Promise<string | undefined> {
  const { signal, patienceMs = PATIENCE_MS, firstDelayMs = FIRST_DELAY_MS } = following;
  const seen: Seen = { answeredAtMs: undefined, lastId: undefined, end: undefined };
  let delayMs = firstDelayMs;
  for (;;) {
    const { answeredAtMs } = seen;
    let reason = "the server ended the stream";
    try {
      await readOnce(client, following, seen);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (seen.answeredAtMs === undefined || !mayPass(error)) throw error;
      if (Date.now() - seen.answeredAtMs > patienceMs) throw error;
      reason = (error as Error).message;
    }
    if (seen.end !== undefined || signal.aborted) return seen.end;
    if (seen.answeredAtMs !== answeredAtMs) delayMs = firstDelayMs;
    following.onReconnect?.(reason);
    await sleep(delayMs, undefined, { signal }).catch(() => {});
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
  }
}

interface Seen {
  /** When a stream was last open. */
  answeredAtMs: number | undefined;
  lastId: string | undefined;
  end: string | undefined;
}

async function readOnce(client: Client, { runId, mode, onEvent, signal }: Following, seen: Seen): Promise<void> {
  const path = `/v1/runs/${encodeURIComponent(runId)}/events`;
  const headers = { accept: "text/event-stream", "last-event-id": seen.lastId };
  const body = await client.open(path, { query: { streamMode: mode }, headers }, signal);
  try {
    for await (const frame of readFrames(body)) take(frame, onEvent, seen);
  } finally {
    seen.answeredAtMs = Date.now();
  }
}

function take(frame: Frame, onEvent: Following["onEvent"], seen: Seen): void {
  // Frames without an id of their own are not part of the log.
  if (frame.id === undefined || frame.id === seen.lastId) return;
  seen.lastId = frame.id;
  const event = JSON.parse(frame.data) as RunEventDoc;
  onEvent(event);
  if (isEnd(event.type)) seen.end = event.type;
}

function isEnd(type: string): boolean {
  return type === "run.completed" || type === "run.failed" || type === "run.cancelled";
}

/** A broken stream throws a TypeError of fetch; our own errors know themselves whether to try again. */
function mayPass(error: unknown): boolean {
  return !(error instanceof AppError) || error.code === "unreachable" || error.mayRetry;
}
