import type { EventDraft } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { changeRun } from "../families/family.ts";
import type { Host } from "../host.ts";
import { failRun } from "./decide/end-run.ts";

/**
 * Ends a run that this host cannot execute. Needs neither its plan nor a turn, for those may be what is broken. What
 * went wrong is in the host's own log: it is about the host and not for everyone who may read the run.
 */
export async function deadLetter(host: Host, workerId: string, run: Run, attempts: number): Promise<void> {
  const { runId } = run;
  const message = `This host could not execute the run in ${attempts} attempts; its log says why.`;
  const dead: EventDraft = { type: "run.dead_lettered", payload: { runId, reason: "engine_error", attempts } };
  const end = (now: Run): EventDraft[] =>
    isTerminal(now.status) ? [] : [dead, ...failRun(now, { code: "run_dead_lettered", message })];
  await changeRun(host, run, end, { heldBy: workerId, lease: "release" });
}
