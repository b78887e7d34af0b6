/** All sequences of one length that enough traces have. A sequence is named by its place in the lists. */
export interface Level {
  readonly length: number;
  /** How many traces have it. */
  readonly traces: Int32Array;
  /** What it is without its last action: a sequence of the level below, or a signature where there is none. */
  readonly prefix: Int32Array;
  /** The signature of its last action. */
  readonly last: Int32Array;
  /** What it is without its first action. */
  readonly suffix: Int32Array;
}

/** For each trace, the sequence that begins at each action; -1 where that is none of the level. */
export type Beginnings = readonly Int32Array[];

/**
 * The sequences of 2 to `longest` actions next to each other that at least `fewest` traces have, level by level; `onLevel` gets the
 * places where they begin. A sequence is frequent only if both of its parts that are one shorter are, so each level is made from the one below,
 * and its windows are counted by sorting numbers: the memory is that of a few numbers per action, however different the actions are.
 */
export function frequentSequences(
  traces: readonly Int32Array[],
  { fewest, longest, signatures }: { readonly fewest: number; readonly longest: number; readonly signatures: number },
  onLevel: (level: Level, beginnings: Beginnings) => void,
): Level[] {
  const levels: Level[] = [];
  const beginnings = frequentActions(traces, fewest, signatures);
  for (let length = 2; length <= longest; length++) {
    const keys = frequentKeys(traces, beginnings, { length, fewest, signatures });
    if (keys.found.length === 0) break;
    const level = makeLevel(keys, length, signatures);
    for (const [t, trace] of traces.entries()) {
      moveUp(trace, beginnings[t] as Int32Array, level, keys.found, signatures);
    }
    levels.push(level);
    onLevel(level, beginnings);
  }
  return levels;
}

function frequentActions(traces: readonly Int32Array[], fewest: number, signatures: number): Int32Array[] {
  const seenIn = new Int32Array(signatures).fill(-1);
  const counts = new Int32Array(signatures);
  for (const [t, trace] of traces.entries()) {
    for (const signature of trace) {
      if (signature < 0 || seenIn[signature] === t) continue;
      seenIn[signature] = t;
      counts[signature] = (counts[signature] as number) + 1;
    }
  }
  return traces.map((trace) => trace.map((signature) => ((counts[signature] ?? 0) >= fewest ? signature : -1)));
}

/** Windows as numbers: the sequence they begin with, and their last action. */
function frequentKeys(
  traces: readonly Int32Array[],
  beginnings: Beginnings,
  { length, fewest, signatures }: { readonly length: number; readonly fewest: number; readonly signatures: number },
): { readonly found: Float64Array; readonly traces: Int32Array } {
  const perTrace = traces.map((trace, t) => distinctKeys(trace, beginnings[t] as Int32Array, length, signatures));
  const all = new Float64Array(perTrace.reduce((sum, keys) => sum + keys.length, 0));
  let filled = 0;
  for (const keys of perTrace) {
    all.set(keys, filled);
    filled += keys.length;
  }
  all.sort();
  const found: number[] = [];
  const counts: number[] = [];
  for (let start = 0; start < all.length; ) {
    let end = start + 1;
    while (end < all.length && all[end] === all[start]) end++;
    if (end - start >= fewest) {
      found.push(all[start] as number);
      counts.push(end - start);
    }
    start = end;
  }
  return { found: Float64Array.from(found), traces: Int32Array.from(counts) };
}

function distinctKeys(trace: Int32Array, begins: Int32Array, length: number, signatures: number): Float64Array {
  const keys = new Float64Array(Math.max(0, trace.length - length + 1));
  let count = 0;
  for (let i = 0; i + length <= trace.length; i++) {
    const prefix = begins[i] as number;
    if (prefix >= 0 && (begins[i + 1] as number) >= 0) {
      keys[count++] = prefix * signatures + (trace[i + length - 1] as number);
    }
  }
  const sorted = keys.subarray(0, count).sort();
  let distinct = 0;
  for (let i = 0; i < count; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[distinct++] = sorted[i] as number;
  }
  return sorted.slice(0, distinct);
}

function makeLevel(keys: ReturnType<typeof frequentKeys>, length: number, signatures: number): Level {
  const prefix = Int32Array.from(keys.found, (key) => Math.floor(key / signatures));
  const last = Int32Array.from(keys.found, (key) => key % signatures);
  return { length, traces: keys.traces, prefix, last, suffix: new Int32Array(prefix.length) };
}

/** Replaces what begins at each action by what of the new level begins there. Left to right, so nothing is read after it was replaced. */
function moveUp(trace: Int32Array, begins: Int32Array, level: Level, keys: Float64Array, signatures: number): void {
  for (let i = 0; i < trace.length; i++) {
    const prefix = begins[i] as number;
    const suffix = begins[i + 1] ?? -1;
    begins[i] = -1;
    if (prefix < 0 || suffix < 0 || i + level.length > trace.length) continue;
    const found = indexIn(keys, prefix * signatures + (trace[i + level.length - 1] as number));
    if (found < 0) continue;
    begins[i] = found;
    level.suffix[found] = suffix;
  }
}

function indexIn(ascending: Float64Array, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return ascending[low] === value ? low : -1;
}
