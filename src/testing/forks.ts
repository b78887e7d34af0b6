import { copyHistory } from "../engine/decide/fork-run.ts";
import type { Plan } from "../engine/decide/plan.ts";
import type { Host } from "../engine/host.ts";
import { replayTurn } from "../engine/replay/replay-turn.ts";
import type { RunEvent, RunEventDoc } from "../protocol/events.ts";
import type { Run } from "../protocol/run.ts";

/** A replay of these events, without a store of its own: its whole log, and what it came to. */
export async function replayed(
  host: Host,
  plan: Plan,
  source: readonly RunEvent[],
  fromSeq: number,
): Promise<{ run: Run; events: readonly RunEvent[] }> {
  const from = {
    runId: source[0]?.runId ?? "",
    fromSeq,
    mode: "replay",
    at: new Date(host.nowMs()).toISOString(),
    sourceVersion: source.length,
  } as const;
  const runId = host.newId("run");
  const history = source.slice(0, Math.max(1, fromSeq));
  const copied = copyHistory({ runId, from, history, newEventId: () => host.newId("evt") });
  const turn = await replayTurn(host, plan, copied.run);
  return { run: turn.run, events: [...copied.events, ...turn.events] };
}

/** What a replay and its source must have in common, event by event. */
export function told(events: readonly (RunEvent | RunEventDoc)[]) {
  return events.map(({ sequence, type, nodeId, payload }) => ({ sequence, type, nodeId, payload }));
}
