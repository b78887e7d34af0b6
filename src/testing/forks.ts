import { type Host, idSource } from "../engine/host.ts";
import { NODE_TYPES } from "../engine/nodes/all.ts";
import { replayTurn } from "../engine/replay/replay-turn.ts";
import { copyHistory } from "../engine/runs/decide/fork-run.ts";
import type { NodeTypes } from "../engine/worker/node-type.ts";
import type { Plan } from "../engine/workflows/decide/plan.ts";
import { eventDoc, type RunEvent, type RunEventDoc } from "../protocol/events.ts";
import type { Run } from "../protocol/runs/run.ts";
import type { StoredEvent } from "../store/port/store.ts";

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

/** A host that has read this log, and on whose clock a year has passed since. */
export function hostAfter(source: readonly RunEvent[], nodeTypes: NodeTypes = NODE_TYPES): Host {
  const nowMs = () => Date.parse(source.at(-1)?.timestamp ?? "") + 366 * 86_400_000;
  return {
    nodeTypes,
    runtimeCapabilities: new Set(),
    gates: { eventRetentionMs: 86_400_000 },
    store: {
      logBytes: async () => 0,
      readEvents: async (_: string, from: number, limit: number) => source.slice(from, from + limit).map(stored),
    },
    nowMs,
    newId: idSource(nowMs),
  } as unknown as Host;
}

export function stored(event: RunEvent): StoredEvent {
  const { sequence, type, sealed } = event;
  const body = JSON.stringify(eventDoc(event));
  return { sequence, type, body, ...(sealed === undefined ? {} : { sealed: JSON.stringify(sealed) }) };
}

/** What a replay and its source must have in common, event by event. */
export function told(events: readonly (RunEvent | RunEventDoc)[]) {
  return events.map(({ sequence, type, nodeId, payload }) => ({ sequence, type, nodeId, payload }));
}
