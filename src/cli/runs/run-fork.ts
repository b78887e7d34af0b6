import type { ForkRunFurtherRequest } from "../../protocol/runs/fork-api.ts";
import { connect } from "../client/client.ts";
import { jsonObject } from "../files/arguments.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { RUN_FORK_FLAGS } from "./fork-commands.ts";
import { watch } from "./run-watch.ts";

export async function runFork(call: Call<typeof RUN_FORK_FLAGS>): Promise<number> {
  const { args, flags, json, config, io } = call;
  const [source = ""] = args;
  const client = connect(config);
  // Only our own route takes the annotation; without one, any OpenWOP host will do.
  const fork = flags.motivatedBy === undefined ? client.runs.fork : client.runs.forkBecause;
  const forked = await fork(source, requestOf(call), { idempotencyKey: flags.idempotencyKey });
  const { runId } = forked;
  if (flags.watch) {
    if (!json) io.err(runId);
    return watch(client, runId, { io, json, all: false });
  }
  // The id alone, so that a script can take it: RUN=$(assay run fork …).
  io.out(json ? JSON.stringify(forked) : runId);
  if (io.outIsTerminal && !json) io.err(`Compare it with: assay run diff ${source} ${runId}`);
  return EXIT.fine;
}

function requestOf({ flags }: Call<typeof RUN_FORK_FLAGS>): ForkRunFurtherRequest {
  const { mode, fromSeq, overlay, motivatedBy } = flags;
  return {
    mode: mode ?? "replay",
    ...(fromSeq === undefined ? {} : { fromSeq }),
    ...(overlay === undefined ? {} : { runOptionsOverlay: jsonObject(overlay, "--overlay") }),
    ...(motivatedBy === undefined ? {} : { motivatedBy }),
  };
}
