import { type Beginnings, frequentSequences, type Level } from "./frequent-sequences.ts";
import type { AnchoredActions, Signatures, Trace } from "./trace.ts";

/** As many actions a sequence may have. */
export const SEQUENCE_MAX = 12;
/** What one tape has is no repetition. */
export const EXAMPLES_MIN = 2;

/** A sequence of actions that several tapes have. */
export interface RepeatedSequence {
  readonly signatures: readonly number[];
  readonly traces: number;
  readonly anchored: boolean;
  /** How many actions the same tapes have in common where this is found, when that is more than a sequence may have. */
  readonly stretch: number;
}

export interface RankedSequences {
  /** The best ones, best first. */
  readonly best: readonly RepeatedSequence[];
  /** How many there are in all. */
  readonly found: number;
}

/**
 * Anchored ones come first, then those of the most tapes, then the longest, then the last in the order of their signatures. What is
 * only part of a longer sequence that as many tapes have is left out, unless an anchor covers the part alone; and of the windows
 * that a stretch of more than `SEQUENCE_MAX` actions consists of, only the best one is there.
 */
export function rankSequences(
  traces: readonly Trace[],
  signatures: Signatures,
  { minExamples, limit }: { readonly minExamples: number; readonly limit: number },
): RankedSequences {
  const anchored: Set<number>[] = [];
  const levels = frequentSequences(
    traces.map((trace) => trace.signatures),
    // One longer than what is shown, which tells where longer stretches are.
    { fewest: Math.max(minExamples, EXAMPLES_MIN), longest: SEQUENCE_MAX + 1, signatures: signatures.count },
    (level, beginnings) => anchored.push(anchoredIn(level, beginnings, traces)),
  );
  const shown = levels.filter(({ length }) => length <= SEQUENCE_MAX);
  const candidates = shown.flatMap((_, at) => closed(levels, anchored, at));
  const ranks = signatures.ranks();
  const order = (a: Candidate, b: Candidate) => compareCounts(a, b) || compareSteps(levels, ranks, a, b);
  const whole = oneOfEachStretch(candidates, stretches(levels), order);
  return {
    found: whole.length,
    best: top(whole, limit, order).map(({ at, id, stretch, ...one }) => ({
      signatures: stepsOf(levels, at, id),
      traces: one.traces,
      anchored: one.anchored,
      stretch,
    })),
  };
}

interface Candidate {
  /** Place of its level, and its own in there. */
  readonly at: number;
  readonly id: number;
  readonly traces: number;
  readonly anchored: boolean;
  readonly stretch: number;
}

/** What begins inside an anchored run and ends there, or begins where an anchor without an end points. */
function anchoredIn({ length }: Level, beginnings: Beginnings, traces: readonly Trace[]): Set<number> {
  const found = new Set<number>();
  for (const [t, { anchored }] of traces.entries()) {
    for (const run of anchored) {
      for (let i = run.from; i < endOf(run, length); i++) {
        const id = beginnings[t]?.[i] ?? -1;
        if (id >= 0) found.add(id);
      }
    }
  }
  return found;
}

/** The first place where a sequence of this length does not lie in the run any more. */
export function endOf({ from, to }: AnchoredActions, length: number): number {
  return to === undefined ? from + 1 : to - length + 1;
}

function closed(levels: readonly Level[], anchored: readonly Set<number>[], at: number): Candidate[] {
  const { traces, length } = levels[at] as Level;
  const isPart = new Uint8Array(traces.length);
  // Above the longest that is shown, windows of a stretch are joined instead.
  const above = length < SEQUENCE_MAX ? levels[at + 1] : undefined;
  for (const [longer, count] of above?.traces.entries() ?? []) {
    for (const part of [above?.prefix[longer] as number, above?.suffix[longer] as number]) {
      const isPointedAt = anchored[at]?.has(part) === true && anchored[at + 1]?.has(longer) !== true;
      if (traces[part] === count && !isPointedAt) isPart[part] = 1;
    }
  }
  const candidates: Candidate[] = [];
  for (const [id, count] of traces.entries()) {
    if (isPart[id] === 1) continue;
    candidates.push({ at, id, traces: count, anchored: anchored[at]?.has(id) === true, stretch: length });
  }
  return candidates;
}

/** For each of the longest sequences one that stands for its stretch: neighbours that all their tapes have together are joined. */
function stretches(levels: readonly Level[]): ((id: number) => number) | undefined {
  const longest = levels.find(({ length }) => length === SEQUENCE_MAX);
  const above = levels.find(({ length }) => length > SEQUENCE_MAX);
  if (!longest || !above) return undefined;
  const parent = Int32Array.from(longest.traces, (_, id) => id);
  const rootOf = (id: number) => {
    let root = id;
    while (parent[root] !== root) {
      // Path halving, for later look-ups.
      parent[root] = parent[parent[root] as number] as number;
      root = parent[root] as number;
    }
    return root;
  };
  for (const [id, count] of above.traces.entries()) {
    const prefix = above.prefix[id] as number;
    const suffix = above.suffix[id] as number;
    if (longest.traces[prefix] === count && longest.traces[suffix] === count) parent[rootOf(suffix)] = rootOf(prefix);
  }
  return rootOf;
}

function oneOfEachStretch(
  candidates: readonly Candidate[],
  rootOf: ((id: number) => number) | undefined,
  order: (a: Candidate, b: Candidate) => number,
): Candidate[] {
  if (!rootOf) return [...candidates];
  const best = new Map<number, Candidate>();
  const others: Candidate[] = [];
  for (const candidate of candidates) {
    if (candidate.at !== SEQUENCE_MAX - 2) {
      others.push(candidate);
      continue;
    }
    const root = rootOf(candidate.id);
    const before = best.get(root);
    const stretch = before === undefined ? SEQUENCE_MAX : before.stretch + 1;
    const better = before === undefined || order(candidate, before) < 0 ? candidate : before;
    best.set(root, { ...better, stretch });
  }
  return [...others, ...best.values()];
}

/** Compares by steps only among those that could be listed: there may be very many, and walking down to the steps takes time. */
function top(candidates: Candidate[], limit: number, order: (a: Candidate, b: Candidate) => number): Candidate[] {
  const sorted = candidates.sort(compareCounts);
  const last = sorted[Math.min(limit, sorted.length) - 1];
  if (last === undefined) return [];
  return sorted
    .filter((one) => compareCounts(one, last) <= 0)
    .sort(order)
    .slice(0, limit);
}

function compareCounts(a: Candidate, b: Candidate): number {
  return Number(b.anchored) - Number(a.anchored) || b.traces - a.traces || b.at - a.at;
}

/** The last in the order of the signatures first; both are of the same length. */
function compareSteps(levels: readonly Level[], ranks: Int32Array, a: Candidate, b: Candidate): number {
  const left = stepsOf(levels, a.at, a.id);
  const right = stepsOf(levels, b.at, b.id);
  const differs = left.findIndex((signature, i) => signature !== right[i]);
  if (differs < 0) return 0;
  return (ranks[right[differs] as number] as number) - (ranks[left[differs] as number] as number);
}

function stepsOf(levels: readonly Level[], at: number, id: number): number[] {
  const steps: number[] = [];
  let sequence = id;
  for (let i = at; i >= 0; i--) {
    const level = levels[i] as Level;
    steps.unshift(level.last[sequence] as number);
    sequence = level.prefix[sequence] as number;
  }
  steps.unshift(sequence);
  return steps;
}
