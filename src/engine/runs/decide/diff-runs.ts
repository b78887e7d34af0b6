import { defined } from "../../../protocol/defined.ts";
import type { RunEventDoc } from "../../../protocol/events.ts";
import { own } from "../../../protocol/own.ts";
import type { EventDiff, Sides, StateDiff } from "../../../protocol/runs/fork-api.ts";
import type { RunSnapshot } from "../../../protocol/runs/snapshot.ts";

/** How the events at one sequence differ; undefined where they are equivalent. Done in steps: an event may be large. */
export function* diffEvents(
  seq: number,
  a: RunEventDoc | undefined,
  b: RunEventDoc | undefined,
): Generator<void, EventDiff | undefined> {
  if (a === undefined || b === undefined) {
    if (a !== undefined) return { seq, op: "removed", aEvent: a };
    return b === undefined ? undefined : { seq, op: "added", bEvent: b };
  }
  return (yield* areEquivalent(content(a), content(b))) ? undefined : { seq, op: "changed", aEvent: a, bEvent: b };
}

/** An event without its id, sequence and time. */
function content({ type, nodeId, payload }: RunEventDoc) {
  return { type, nodeId: nodeId ?? null, payload };
}

/** How the states of two runs differ. Done in steps: a state may be large. */
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
    if (!(yield* areEquivalent(left ?? null, right ?? null))) {
      differing.push([name, defined({ a: left, b: right })]);
    }
    yield;
  }
  return differing.length === 0 ? undefined : Object.fromEntries(differing);
}

/** Times and durations. `observed` is how long a run lasted, where its limit was one of time. */
const TIMES: ReadonlySet<string> = new Set(["requestedAt", "resolvedAt", "decidedAt", "writtenAt", "durationMs"]);

/** Ids that this host generates: they are new in every run. */
const ID = /\b[a-z]{2,4}-[0-9a-hjkmnp-tv-z]{26}\b/g;

/** Pairs of values that are compared in one step. */
const PAIRS_AT_ONCE = 1_000;

type Pair = readonly [unknown, unknown];

/** Whether two values are equal except for ids and times, which differ between any two runs. Done in steps. */
export function* areEquivalent(a: unknown, b: unknown): Generator<void, boolean> {
  const open: Pair[] = [[a, b]];
  for (let compared = 1; ; compared++) {
    const pair = open.pop();
    if (pair === undefined) return true;
    const parts = partsToCompare(...pair);
    if (parts === undefined) return false;
    for (const part of parts) open.push(part);
    if (compared % PAIRS_AT_ONCE === 0) yield;
  }
}

/** The parts of two values that remain to be compared; undefined where the values differ already. */
function partsToCompare(a: unknown, b: unknown): readonly Pair[] | undefined {
  if (Object.is(a, b)) return [];
  if (typeof a === "string" && typeof b === "string") return withoutIds(a) === withoutIds(b) ? [] : undefined;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b ? [] : undefined;
  if (Array.isArray(a) !== Array.isArray(b)) return undefined;
  return Array.isArray(a) ? itemPairs(a, b as readonly unknown[]) : memberPairs(membersOf(a), membersOf(b));
}

function itemPairs(a: readonly unknown[], b: readonly unknown[]): readonly Pair[] | undefined {
  return a.length === b.length ? a.map((item, i): Pair => [item, b[i]]) : undefined;
}

function memberPairs(a: Map<string, unknown>, b: Map<string, unknown>): readonly Pair[] | undefined {
  if (a.size !== b.size) return undefined;
  const pairs: Pair[] = [];
  for (const [name, value] of a) {
    if (!b.has(name)) return undefined;
    pairs.push([value, b.get(name)]);
  }
  return pairs;
}

function membersOf(value: object): Map<string, unknown> {
  const timed = (value as { kind?: unknown }).kind === "run-duration";
  const members = new Map<string, unknown>();
  for (const [name, item] of Object.entries(value)) {
    if (!TIMES.has(name) && !(timed && name === "observed")) members.set(withoutIds(name), item);
  }
  return members;
}

function withoutIds(text: string): string {
  return text.replace(ID, "-");
}
