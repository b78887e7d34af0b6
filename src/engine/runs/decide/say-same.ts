/** Times and durations. `observed` is how long a run lasted, where its limit was one of time. */
const TIMES: ReadonlySet<string> = new Set(["requestedAt", "resolvedAt", "decidedAt", "writtenAt", "durationMs"]);

/** Ids that this host makes up: they are new in every run. */
const ID = /\b[a-z]{2,4}-[0-9a-hjkmnp-tv-z]{26}\b/g;

/** So many pairs of values are compared before others have their turn. */
const PAIRS_AT_ONCE = 1_000;

type Pair = readonly [unknown, unknown];

/** Whether two values say the same, but for what every run has differently: its ids and times. Done in steps. */
export function* saySame(a: unknown, b: unknown): Generator<void, boolean> {
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

/** What is to be compared within two values; undefined where they differ already. */
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
