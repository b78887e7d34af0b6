import type { PauseRunResponse, ResumeRunResponse } from "../../protocol/runs/api.ts";
import { connect } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import type { RUN_PAUSE_FLAGS, RUN_RESUME_FLAGS } from "./commands.ts";

export async function runPause(call: Call<typeof RUN_PAUSE_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const body = {
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
    ...(flags.drain === undefined ? {} : { drainPolicy: flags.drain }),
  };
  const [runId = ""] = args;
  const path = `/v1/runs/${encodeURIComponent(runId)}:pause`;
  const paused = await connect(config).json<PauseRunResponse>(path, { method: "POST", body });
  if (json) io.out(JSON.stringify(paused));
  else io.out(paused.pausedAt === undefined ? `${runId} pauses when its current node ends` : `${runId} paused`);
  if (!json && io.outIsTerminal) io.err(`Let it go on with: assay run resume ${runId}`);
}

export async function runResume(call: Call<typeof RUN_RESUME_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [runId = ""] = args;
  const path = `/v1/runs/${encodeURIComponent(runId)}:resume`;
  const body = flags.reason === undefined ? {} : { reason: flags.reason };
  const resumed = await connect(config).json<ResumeRunResponse>(path, { method: "POST", body });
  io.out(json ? JSON.stringify(resumed) : `${runId} ${resumed.status}`);
}
