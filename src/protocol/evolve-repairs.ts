import type { RunEvent } from "./events.ts";
import type { Run } from "./run.ts";
import { withoutState } from "./run-head.ts";

type Repair = Extract<RunEvent, { type: "assay.state.dropped" | "assay.times.corrected" }>;

/** The run after its host has repaired what it could not go on with. */
export function repaired(run: Run, event: Repair): Run {
  if (event.type === "assay.state.dropped") return withoutState(run, event.payload.bytes);
  return withEarlierTimes(run, event.payload.byMs, Date.parse(event.timestamp));
}

/** The run with all times of what it waits for earlier by so much. Times that were before `atMs` anyway were written by a right clock. */
function withEarlierTimes(run: Run, byMs: number, atMs: number): Run {
  const earlier = (ms: number): number => (ms > atMs ? ms - byMs : ms);
  const nodes = Object.entries(run.nodes).map(([id, node]) => {
    return [id, node.dueAtMs === undefined ? node : { ...node, dueAtMs: earlier(node.dueAtMs) }] as const;
  });
  const interrupts = Object.entries(run.interrupts).map(([id, one]) => {
    const isWaiting = one.status === "open" && one.deadlineMs !== undefined;
    return [id, isWaiting ? { ...one, deadlineMs: earlier(one.deadlineMs ?? 0) } : one] as const;
  });
  const instant = (text: string): string => new Date(earlier(Date.parse(text))).toISOString();
  const { forkedFrom } = run;
  return {
    ...run,
    startedAt: instant(run.startedAt),
    ...(forkedFrom === undefined ? {} : { forkedFrom: { ...forkedFrom, at: instant(forkedFrom.at) } }),
    nodes: Object.fromEntries(nodes),
    interrupts: Object.fromEntries(interrupts),
  };
}
