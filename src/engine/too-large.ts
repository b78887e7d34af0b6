import type { Run } from "../protocol/run.ts";
import { failRun } from "./decide/end-run.ts";
import type { Host } from "./host.ts";
import { stamp } from "./stamp.ts";
import type { Turn } from "./turn.ts";

/** The turn that ends a run which this host has no room for. */
export function tooLarge(host: Host, before: Run, problem: string): Turn {
  const message = `${problem}: more than this host can keep in hand. Keep large values elsewhere and refer to them.`;
  const { runId } = before;
  const drafts = failRun(before, { code: "run_too_large", message });
  const { run, events } = stamp(before, drafts, { runId, nowMs: host.nowMs(), newId: host.newId });
  return { run, events, launches: [], children: [], size: 0 };
}
