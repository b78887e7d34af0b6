import { connect } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import type { RUN_PAUSE_FLAGS, RUN_RESUME_FLAGS } from "./commands.ts";

export async function runPause(call: Call<typeof RUN_PAUSE_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const body = { reason: flags.reason, drainPolicy: flags.drain };
  const [runId = ""] = args;
  const paused = await connect(config).runs.pause(runId, body);
  if (json) io.out(JSON.stringify(paused));
  else io.out(paused.pausedAt === undefined ? `${runId} pauses when its current node ends` : `${runId} paused`);
  if (!json && io.outIsTerminal) io.err(`Let it go on with: assay run resume ${runId}`);
}

export async function runResume(call: Call<typeof RUN_RESUME_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [runId = ""] = args;
  const resumed = await connect(config).runs.resume(runId, { reason: flags.reason });
  io.out(json ? JSON.stringify(resumed) : `${runId} ${resumed.status}`);
}
