import { isRecorded } from "../../protocol/tapes/api.ts";
import { type Client, connect } from "../client/client.ts";
import { describeEvent, inheritedDecisions } from "../output/describe-event.ts";
import type { Io } from "../output/io.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { RUN_WATCH_FLAGS } from "./commands.ts";
import { followRun } from "./follow-run.ts";

export async function runWatch({ args, flags, json, config, io }: Call<typeof RUN_WATCH_FLAGS>): Promise<number> {
  const [runId = ""] = args;
  const client = connect(config);
  // All that a recorded run has to show are events that others keep for debugging.
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
    onReconnect: ({ message }) => {
      if (io.errIsTerminal) io.err(`Connection lost (${message}); trying again.`);
    },
  });
  // Nobody reads any more: there is no verdict to give, and none is wanted.
  if (end === undefined) return EXIT.fine;
  return end === "run.completed" ? EXIT.fine : EXIT.negative;
}
