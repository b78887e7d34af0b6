import { defined } from "../../../protocol/defined.ts";
import type { RunEventDoc } from "../../../protocol/events.ts";
import { own } from "../../../protocol/own.ts";
import type { EventDiff, Sides, StateDiff } from "../../../protocol/runs/fork-api.ts";
import type { RunSnapshot } from "../../../protocol/runs/snapshot.ts";
import { saySame } from "./say-same.ts";

/** How the events at one sequence differ; undefined when they say the same. Done in steps: an event may be large. */
export function* diffEvents(
  seq: number,
  a: RunEventDoc | undefined,
  b: RunEventDoc | undefined,
): Generator<void, EventDiff | undefined> {
  if (a === undefined || b === undefined) {
    if (a !== undefined) return { seq, op: "removed", aEvent: a };
    return b === undefined ? undefined : { seq, op: "added", bEvent: b };
  }
  return (yield* saySame(said(a), said(b))) ? undefined : { seq, op: "changed", aEvent: a, bEvent: b };
}

/** What an event says, without what every event has differently. */
function said({ type, nodeId, payload }: RunEventDoc) {
  return { type, nodeId: nodeId ?? null, payload };
}

/** Where two runs have come to different things. Done in steps: a state may be large. */
export function* diffStates(a: RunSnapshot, b: RunSnapshot): Generator<void, StateDiff> {
  const variables = yield* diffFields(a.variables, b.variables);
  const channels = yield* diffFields(a.channels, b.channels);
  return {
    ...(a.status === b.status ? {} : { status: { a: a.status, b: b.status } }),
    ...defined({ variables, channels }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function* diffFields(a: Fields = {}, b: Fields = {}): Generator<void, Record<string, Sides> | undefined> {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const differing: [string, Sides][] = [];
  for (const name of names) {
    const [left, right] = [own(a, name), own(b, name)];
    if (!(yield* saySame(left ?? null, right ?? null))) {
      differing.push([name, defined({ a: left, b: right })]);
    }
    yield;
  }
  return differing.length === 0 ? undefined : Object.fromEntries(differing);
}
