import type { EventDraft } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Host } from "../host.ts";
import { roomOf } from "../worker/run-room.ts";
import type { Turn } from "../worker/turn.ts";
import { failRun } from "./decide/end-run.ts";
import { stamp } from "./stamp.ts";

/** The turn that ends a run for which this host has no room. */
export function tooLarge(host: Host, before: Run, problem: string): Turn {
  const message = `${problem}: more than this host can keep in memory. Keep large values elsewhere and refer to them.`;
  const { runId } = before;
  const drafts = failRun(before, { code: "run_too_large", message });
  const { run, events } = stamp(before, drafts, { runId, nowMs: host.nowMs(), newId: host.newId });
  return { run, events, launches: [], children: [], size: 0 };
}

/** Whether only the head of the run was read, and the run has not ended: it can then only end. */
export function isHeadOnly({ stateOmitted, status }: Run): boolean {
  return stateOmitted !== undefined && !isTerminal(status);
}

/** The events that end a run of which only the head was read. Its values stay in its log. */
export function endOfHead(host: Host, head: Run): EventDraft[] {
  const bytes = head.stateOmitted?.bytes ?? 1;
  const limitBytes = Math.floor(roomOf(host).maxLoadBytes);
  const message = `The state of the run takes ${bytes} bytes, and this host loads ${limitBytes}. Its events are kept.`;
  return [
    { type: "assay.state.dropped", payload: { bytes, limitBytes } },
    ...failRun(head, { code: "run_too_large", message }),
  ];
}
