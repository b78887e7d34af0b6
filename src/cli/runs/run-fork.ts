import type { ForkRunFurtherRequest, ForkRunResponse } from "../../protocol/runs/fork-api.ts";
import { connect } from "../client/client.ts";
import { jsonObject } from "../files/json-argument.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { RUN_FORK_FLAGS } from "./fork-commands.ts";
import { watch } from "./run-watch.ts";

export async function runFork(call: Call<typeof RUN_FORK_FLAGS>): Promise<number> {
  const { args, flags, json, config, io } = call;
  const [source = ""] = args;
  const client = connect(config);
  // Only our own route takes the annotation; without one, any OpenWOP host will do.
  const root = flags.motivatedBy === undefined ? "/v1/runs" : "/v1/host/assay/runs";
  const forked = await client.json<ForkRunResponse>(`${root}/${encodeURIComponent(source)}:fork`, {
    method: "POST",
    body: requestOf(call),
    headers: { "idempotency-key": flags.idempotencyKey },
  });
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
    mode: (mode ?? "replay") as ForkRunFurtherRequest["mode"],
    ...(fromSeq === undefined ? {} : { fromSeq }),
    ...(overlay === undefined ? {} : { runOptionsOverlay: jsonObject(overlay, "--overlay") }),
    ...(motivatedBy === undefined ? {} : { motivatedBy }),
  };
}
