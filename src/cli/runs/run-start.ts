import type { CreateRunRequest } from "../../protocol/runs/api.ts";
import { connect } from "../client/client.ts";
import { assignments, jsonObject } from "../files/arguments.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { RUN_START_FLAGS } from "./commands.ts";
import { followRun } from "./follow-run.ts";
import { showRun } from "./run-show.ts";
import { watch } from "./run-watch.ts";

export async function runStart(call: Call<typeof RUN_START_FLAGS>): Promise<number> {
  const { flags, io, json, config } = call;
  const client = connect(config);
  const started = await client.runs.start(requestOf(call), { idempotencyKey: flags.idempotencyKey });
  const { runId } = started;

  if (flags.watch) {
    if (!json) io.err(runId);
    return watch(client, runId, { io, json, all: false });
  }
  if (flags.wait) {
    const end = await followRun(client, { runId, mode: "updates", onEvent: () => {}, signal: io.outClosed });
    const snapshot = await client.runs.get(runId);
    io.out(json ? JSON.stringify(snapshot) : showRun(snapshot, io, Date.now()));
    return end === "run.completed" ? EXIT.fine : EXIT.negative;
  }
  // The id alone, so that a script can take it: RUN=$(assay run start greet).
  io.out(json ? JSON.stringify(started) : runId);
  if (io.outIsTerminal && !json) io.err(`Follow it with: assay run watch ${runId}`);
  return EXIT.fine;
}

function requestOf({ args: [workflowId = ""], flags }: Call<typeof RUN_START_FLAGS>): CreateRunRequest {
  const inputs = {
    ...(flags.inputs === undefined ? {} : jsonObject(flags.inputs, "--inputs")),
    ...assignments(flags.input, "--input"),
  };
  return {
    workflowId,
    ...(Object.keys(inputs).length === 0 ? {} : { inputs }),
    ...(flags.configurable === undefined ? {} : { configurable: jsonObject(flags.configurable, "--configurable") }),
    ...(flags.tag.length === 0 ? {} : { tags: [...flags.tag] }),
    ...(flags.metadata.length === 0 ? {} : { metadata: assignments(flags.metadata, "--metadata") }),
  };
}
