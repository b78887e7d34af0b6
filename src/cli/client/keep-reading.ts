import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../protocol/errors.ts";
import { type Frame, readFrames } from "./server-sent-events.ts";

export interface Reading {
  /** Opens the stream, from wherever it is to go on. */
  open(): Promise<ReadableStream<Uint8Array>>;
  onFrame(frame: Frame): void;
  /** Where to go on after a break. */
  onId?(id: string): void;
  /** Whether there is nothing more to come. */
  isOver(): boolean;
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
 * Reads a stream until it is over or `signal` ends it. A server that never answered is an error at once; one that went
 * away is tried again.
 */
export async function keepReading(reading: Reading): Promise<void> {
  const { signal, patienceMs = PATIENCE_MS, firstDelayMs = FIRST_DELAY_MS } = reading;
  /** When a stream was last open. */
  let answeredAtMs: number | undefined;
  let delayMs = firstDelayMs;
  for (;;) {
    const before = answeredAtMs;
    let reason = "the server ended the stream";
    try {
      const body = await reading.open();
      try {
        for await (const frame of readFrames(body, reading.onId)) reading.onFrame(frame);
      } finally {
        answeredAtMs = Date.now();
      }
    } catch (error) {
      if (signal.aborted) return;
      if (answeredAtMs === undefined || !mayPass(error)) throw error;
      if (Date.now() - answeredAtMs > patienceMs) throw error;
      reason = (error as Error).message;
    }
    if (reading.isOver() || signal.aborted) return;
    if (answeredAtMs !== before) delayMs = firstDelayMs;
    reading.onReconnect?.(reason);
    await sleep(delayMs, undefined, { signal }).catch(() => {});
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
  }
}

/** A broken stream throws a TypeError of fetch; our own errors know themselves whether to try again. */
function mayPass(error: unknown): boolean {
  return !(error instanceof AppError) || error.code === "unreachable" || error.mayRetry;
}
