import { canonicalJson } from "../../formats/canonical-json.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { EventDiff, Sides, StateDiff } from "../../protocol/fork-api.ts";
import { own } from "../../protocol/own.ts";
import type { RunSnapshot } from "../../protocol/snapshot.ts";

/** How the events at one sequence differ; undefined when they say the same. */
export function diffEvents(seq: number, a?: RunEventDoc, b?: RunEventDoc): EventDiff | undefined {
  if (a === undefined || b === undefined) {
    if (a !== undefined) return { seq, op: "removed", aEvent: a };
    return b === undefined ? undefined : { seq, op: "added", bEvent: b };
  }
  return said(a) === said(b) ? undefined : { seq, op: "changed", aEvent: a, bEvent: b };
}

/** What an event says, without what every run has differently. */
function said({ type, nodeId, payload }: RunEventDoc): string {
  return canonicalJson({ type, nodeId: nodeId ?? null, payload: withoutRunScoped(payload) });
}

/** Times and durations. `observed` is how long a run lasted, where its limit was one of time. */
const TIMES: ReadonlySet<string> = new Set(["requestedAt", "resolvedAt", "decidedAt", "writtenAt", "durationMs"]);

/** Ids that this host makes up: they are new in every run. */
const ID = /\b[a-z]{2,4}-[0-9a-hjkmnp-tv-z]{26}\b/g;

function withoutRunScoped(value: unknown): unknown {
  if (typeof value === "string") return value.replace(ID, "-");
  if (Array.isArray(value)) return value.map(withoutRunScoped);
  if (typeof value !== "object" || value === null) return value;
  const timed = (value as { kind?: unknown }).kind === "run-duration";
  const kept = Object.entries(value).filter(([key]) => !TIMES.has(key) && !(timed && key === "observed"));
  return Object.fromEntries(kept.map(([key, item]) => [key.replace(ID, "-"), withoutRunScoped(item)]));
}

/** Where two runs have come to different things. `shown` makes a value fit to be seen. */
export function diffStates(a: RunSnapshot, b: RunSnapshot, shown: (value: unknown) => unknown): StateDiff {
  const variables = diffFields(a.variables, b.variables, shown);
  const channels = diffFields(a.channels, b.channels, shown);
  return {
    ...(a.status === b.status ? {} : { status: { a: a.status, b: b.status } }),
    ...(variables === undefined ? {} : { variables }),
    ...(channels === undefined ? {} : { channels }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function diffFields(a: Fields = {}, b: Fields = {}, shown: (value: unknown) => unknown) {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const differing = names.flatMap((name): [string, Sides][] => {
    const [left, right] = [own(a, name), own(b, name)];
    if (canonicalJson(withoutRunScoped(left ?? null)) === canonicalJson(withoutRunScoped(right ?? null))) return [];
    const sides = {
      ...(left === undefined ? {} : { a: shown(left) }),
      ...(right === undefined ? {} : { b: shown(right) }),
    };
    return [[name, sides]];
  });
  return differing.length === 0 ? undefined : Object.fromEntries(differing);
}
