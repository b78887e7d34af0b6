import type { StoredEvent } from "../../store/port/store.ts";
import { isAdmitted, isMessageChunk, type StreamModes } from "./stream-mode.ts";

export const OPENED = ":ok\n\n";
export const KEEP_ALIVE = Buffer.from(":keepalive\n\n");

/** The frame of an event, named by the event's type, or an empty text when no mode admits it. Stored texts are sent as they are. */
export function eventFrame(modes: StreamModes, event: StoredEvent): string {
  if (!isAdmitted(modes, event.type)) return "";
  if (isMessageChunk(event.type)) return frame(event.sequence, "ai.message.chunk", messageChunk(event.body));
  return frame(event.sequence, event.type, event.body);
}

export function snapshotFrame(sequence: number, snapshot: string): string {
  return frame(sequence, "state.snapshot", snapshot);
}

/** `events` holds at least one; the client resumes after the last of them. */
export function batchFrame(events: readonly StoredEvent[]): string {
  return frame(events.at(-1)?.sequence ?? 0, "batch", `[${events.map((event) => event.body).join(",")}]`);
}

/** A frame that no client resumes after. */
export function plainFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** JSON texts have no line breaks of their own, so one `data:` line holds any of them. */
function frame(id: number, event: string, data: string): string {
  return `id: ${id}\n${plainFrame(event, data)}`;
}

function messageChunk(body: string): string {
  const { payload } = JSON.parse(body) as { payload: Record<string, unknown> };
  const { nodeId, runId, chunk, isLast, meta } = payload;
  return JSON.stringify({ nodeId, runId, chunk, isLast, meta });
}
