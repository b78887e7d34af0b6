import { defined } from "../../protocol/defined.ts";
import type { CreateRunRequest } from "../../protocol/runs/api.ts";
import type { ForkRunFurtherRequest } from "../../protocol/runs/fork-api.ts";
import { connect } from "../client/client.ts";
import { assignments, jsonObject } from "../files/arguments.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { RUN_FORK_FLAGS, RUN_START_FLAGS } from "./commands.ts";

export async function runStart(call: Call<typeof RUN_START_FLAGS>): Promise<number> {
  const { flags, io, json, config } = call;
  const client = connect(config);
  const started = await client.runs.start(startRequest(call), { idempotencyKey: flags.idempotencyKey });
  const { runId } = started;

  if (flags.watch) {
    if (!json) io.err(runId);
    return (await import("./follow.ts")).watch(client, runId, { io, json, all: false });
  }
  if (flags.wait) {
    const { followRun, verdictOf } = await import("./follow.ts");
    const { showRun } = await import("./show.ts");
    const end = await followRun(client, { runId, mode: "updates", onEvent: () => {}, signal: io.outClosed });
    const snapshot = await client.runs.get(runId);
    io.out(json ? JSON.stringify(snapshot) : showRun(snapshot, io, Date.now()));
    return verdictOf(end);
  }
  // The id alone, so that a script can take it: RUN=$(assay run start greet).
  io.out(json ? JSON.stringify(started) : runId);
  if (io.outIsTerminal && !json) io.err(`Follow it with: assay run watch ${runId}`);
  return EXIT.fine;
}

function startRequest({ args: [workflowId = ""], flags }: Call<typeof RUN_START_FLAGS>): CreateRunRequest {
  const inputs = {
    ...(flags.inputs === undefined ? {} : jsonObject(flags.inputs, "--inputs")),
    ...assignments(flags.input, "--input"),
  };
  return defined({
    workflowId,
    inputs: Object.keys(inputs).length === 0 ? undefined : inputs,
    configurable: flags.configurable === undefined ? undefined : jsonObject(flags.configurable, "--configurable"),
    tags: flags.tag.length === 0 ? undefined : [...flags.tag],
    metadata: flags.metadata.length === 0 ? undefined : assignments(flags.metadata, "--metadata"),
  });
}

export async function runFork(call: Call<typeof RUN_FORK_FLAGS>): Promise<number> {
  const { args, flags, json, config, io } = call;
  const [source = ""] = args;
  const client = connect(config);
  // Only Assay's own route takes the annotation; without one, any OpenWOP host will do.
  const fork = flags.motivatedBy === undefined ? client.runs.fork : client.runs.forkBecause;
  const forked = await fork(source, forkRequest(call), { idempotencyKey: flags.idempotencyKey });
  const { runId } = forked;
  if (flags.watch) {
    if (!json) io.err(runId);
    return (await import("./follow.ts")).watch(client, runId, { io, json, all: false });
  }
  // The id alone, so that a script can take it: RUN=$(assay run fork …).
  io.out(json ? JSON.stringify(forked) : runId);
  if (io.outIsTerminal && !json) io.err(`Compare it with: assay run diff ${source} ${runId}`);
  return EXIT.fine;
}

function forkRequest({ flags }: Call<typeof RUN_FORK_FLAGS>): ForkRunFurtherRequest {
  const { mode = "replay", fromSeq, overlay, motivatedBy } = flags;
  const runOptionsOverlay = overlay === undefined ? undefined : jsonObject(overlay, "--overlay");
  return defined({ mode, fromSeq, runOptionsOverlay, motivatedBy });
}
