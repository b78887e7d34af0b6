import { endsRun, type RunEventDoc } from "../../protocol/events.ts";
import type { StreamOptions } from "../../sdk/settings.ts";
import type { Client } from "../client/client.ts";

export interface Following extends Pick<StreamOptions, "onReconnect" | "patienceMs"> {
  readonly runId: string;
  readonly mode: "updates" | "debug";
  readonly signal: AbortSignal;
  onEvent(event: RunEventDoc): void;
}

/**
 * Hands over every event of a run in order, once each, from the first to the last; returns the type of the last.
 * Undefined when `signal` ended it.
 */
export async function followRun(client: Client, following: Following): Promise<string | undefined> {
  const { runId, mode, onEvent, ...options } = following;
  for await (const { data, id } of client.runs.follow(runId, { streamMode: mode }, options)) {
    // Frames without an id are not part of the log.
    if (id === undefined || !("sequence" in data)) continue;
    onEvent(data);
    if (endsRun(data.type)) return data.type;
  }
  return undefined;
}
