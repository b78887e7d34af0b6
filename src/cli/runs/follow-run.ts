import type { RunEventDoc } from "../../protocol/events.ts";
import type { Client } from "../client/client.ts";
import { keepReading, type Reading } from "../client/keep-reading.ts";
import type { Frame } from "../client/server-sent-events.ts";

export interface Following extends Pick<Reading, "onReconnect" | "signal" | "patienceMs" | "firstDelayMs"> {
  readonly runId: string;
  readonly mode: "updates" | "debug";
  onEvent(event: RunEventDoc): void;
}

/**
 * Hands over every event of a run in order, once each, from the first to the last; returns the type of the last.
 * Undefined when `signal` ended it. A lost connection is taken up again from the event after the last one seen.
 */
export async function followRun(client: Client, following: Following): Promise<string | undefined> {
  const { runId, mode, onEvent, signal } = following;
  const seen: Seen = { lastId: undefined, end: undefined };
  await keepReading({
    ...following,
    open: () => {
      const path = `/v1/runs/${encodeURIComponent(runId)}/events`;
      const headers = { accept: "text/event-stream", "last-event-id": seen.lastId };
      return client.open(path, { query: { streamMode: mode }, headers }, signal);
    },
    onFrame: (frame) => take(frame, onEvent, seen),
    isOver: () => seen.end !== undefined,
  });
  return seen.end;
}

interface Seen {
  lastId: string | undefined;
  end: string | undefined;
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
