import type { RunEventDoc } from "../../protocol/events.ts";
import { endsRun, isRecorded } from "../../protocol/words.ts";
import type { StreamOptions } from "../../sdk/settings.ts";
import { type Client, connect, reconnectNotice } from "../client/client.ts";
import { describeEvent, inheritedDecisions } from "../output/describe-event.ts";
import type { Io } from "../output/io.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { RUN_WATCH_FLAGS } from "./commands.ts";

export async function runWatch({ args, flags, json, config, io }: Call<typeof RUN_WATCH_FLAGS>): Promise<number> {
  const [runId = ""] = args;
  const client = connect(config);
  // A recorded run has debugging events only.
  const all = flags.all || isRecorded(await client.runs.get(runId));
  return watch(client, runId, { io, json, all });
}

/** Prints every event of a run until its end; the exit code says how it ended. */
export async function watch(
  client: Client,
  runId: string,
  { io, json, all }: { io: Io; json: boolean; all: boolean },
): Promise<number> {
  const columns = process.stdout.columns || 120;
  const decidedFor = inheritedDecisions();
  const end = await followRun(client, {
    runId,
    mode: all ? "debug" : "updates",
    signal: io.outClosed,
    onEvent: (event) => io.out(json ? JSON.stringify(event) : describeEvent(event, io, columns, decidedFor(event))),
    onReconnect: reconnectNotice(io),
  });
  // Without an end the reader of the output is gone, and no verdict is asked for.
  return end === undefined ? EXIT.fine : verdictOf(end);
}

/** The exit code for the type of a run's last event. */
export function verdictOf(end: string | undefined): number {
  return end === "run.completed" ? EXIT.fine : EXIT.negative;
}

export interface Following extends Pick<StreamOptions, "onReconnect" | "patienceMs"> {
  readonly runId: string;
  readonly mode: "updates" | "debug";
  readonly signal: AbortSignal;
  onEvent(event: RunEventDoc): void;
}

/** Passes on every event of a run once, in order, and returns the type of the last one; undefined when `signal` ended it. */
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
