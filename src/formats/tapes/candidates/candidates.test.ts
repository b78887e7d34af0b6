import { describe, expect, test } from "vitest";
import { aRecord } from "../../../testing/tape-files.ts";
import type { Anchor } from "../sidecar/sidecar.ts";
import type { TapeRecord } from "../tape.ts";
import { CandidateFinder } from "./candidates.ts";
import { rankSequences } from "./rank.ts";
import { Signatures, type Trace, TraceBuilder } from "./trace.ts";

/** A letter is a program, a digit its argument, `.` a clock, `?` something unknown and `!` a model. */
function records(text: string): TapeRecord[] {
  const found = [...text.matchAll(/([a-z.?!])(\d?)/g)];
  return found.map(([, what = "", arg = ""], i) => aRecord({ seq: BigInt(i * 10), kind: kindOf(what, arg) }));
}

function kindOf(what: string, arg: string): TapeRecord["kind"] {
  const body = { content_hash: "h", text: "" };
  if (what === ".") return { kind: "clock_sleep", duration_ms: 1n };
  if (what === "?") return { kind: "unknown" };
  if (what === "!") return { kind: "llm_call", request_digest: "d", response: body };
  const payloads = { stdout_payload: body, stderr_payload: body };
  const args = arg === "" ? [] : [arg];
  return { kind: "process_spawn", program: what, args, cwd: null, exit_code: 0n, duration_ms: 1n, ...payloads };
}

interface Options {
  readonly minExamples?: number;
  readonly limit?: number;
  /** By tape: from, to. */
  readonly anchors?: Readonly<Record<number, readonly (readonly [number, number])[]>>;
}

function candidatesIn(tapes: readonly string[], { minExamples = 2, limit = 1000, anchors = {} }: Options = {}) {
  const signatures = new Signatures();
  const files = new Map<Trace, readonly TapeRecord[]>();
  for (const [t, tape] of tapes.entries()) {
    const builder = new TraceBuilder(`${t}.tape`, signatures, (anchors[t] ?? []).map(anchor));
    const all = records(tape);
    for (const record of all) builder.add(record);
    files.set(builder.finish(), all);
  }
  const traces = [...files.keys()];
  const ranked = rankSequences(traces, signatures, { minExamples, limit });
  const finder = new CandidateFinder(ranked, traces, signatures);
  return { found: ranked.found, candidates: finder.candidates((trace, place) => files.get(trace)?.[place]) ?? [] };
}

function anchor([from, to]: readonly [number, number]): Anchor {
  return { event_id: BigInt(from), end_event_id: BigInt(to), evidence: null, author: null, metadata: new Map() };
}

const names = (tapes: readonly string[], options?: Options) =>
  candidatesIn(tapes, options).candidates.map(({ steps }) => steps.map(({ name }) => name).join(""));

describe("a repeated sequence", () => {
  test("is what tapes have in common, next to each other, clocks aside", () => {
    expect(names(["xab.cy", "zabcw"])).toEqual(["abc"]);
    expect(names(["xab?cy", "zab?cw"])).toEqual(["ab"]);
    expect(names(["a?b", "a?b"])).toEqual([]);
  });

  test("counts once per tape, at its first place", () => {
    const { candidates } = candidatesIn(["xabyab", "ab"]);
    expect(candidates).toHaveLength(1);
    expect(candidates[0]?.tapes).toEqual([
      { path: "0.tape", firstSeq: 10n, lastSeq: 20n },
      { path: "1.tape", firstSeq: 0n, lastSeq: 10n },
    ]);
    expect(names(["ababab", "x"])).toEqual([]);
  });

  test("needs as many tapes as are asked for, and never fewer than two", () => {
    const tapes = ["abxy", "abzw", "abxy"];
    expect(names(tapes)).toEqual(["ab", "abxy"]);
    expect(names(tapes, { minExamples: 3 })).toEqual(["ab"]);
    expect(names(["ab"], { minExamples: 1 })).toEqual([]);
  });

  test("is left out when it is only part of a longer one that as many tapes have", () => {
    expect(names(["abcd", "abcd", "bc"])).toEqual(["bc", "abcd"]);
  });

  test("of equal rank comes later in the order of signatures first", () => {
    expect(names(["ab?cd?ba", "ab?cd?ba"])).toEqual(["cd", "ba", "ab"]);
    expect(names(["ab?cd?ba", "ab?cd?ba"], { limit: 2 })).toEqual(["cd", "ba"]);
    expect(candidatesIn(["ab?cd?ba", "ab?cd?ba"], { limit: 2 }).found).toBe(3);
  });

  test("has twelve steps at most, and one window stands for a longer stretch", () => {
    const long = "abcdefghijklmnop";
    const { candidates } = candidatesIn([long, `x${long}`]);
    expect(candidates.map(({ steps, stretch }) => [steps.length, stretch])).toEqual([[12, 16]]);
    expect(candidates[0]?.steps[0]?.name).toBe("e");
  });

  test("of fewer tapes does not stand for a stretch of more", () => {
    const twelve = "abcdefghijkl";
    const { candidates } = candidatesIn([twelve, `${twelve}m`, `${twelve}m`]);
    expect(candidates.map(({ tapes, stretch }) => [tapes.length, stretch])).toEqual([
      [3, 12],
      [2, 12],
    ]);
  });
});

describe("an anchored sequence", () => {
  test("comes first, and says where it was asked for", () => {
    const tapes = ["ab?cd", "ab?cd", "cd"];
    expect(names(tapes)).toEqual(["cd", "ab"]);
    const { candidates } = candidatesIn(tapes, { anchors: { 1: [[0, 10]] } });
    expect(candidates.map(({ anchors }) => anchors.map(({ path }) => path))).toEqual([["1.tape"], []]);
    expect(candidates[0]?.steps.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  test("is asked for where it lies in the stretch, also when that is not its first place", () => {
    expect(names(["ab?cd?ab", "ab?cd"], { anchors: { 0: [[60, 70]] } })[0]).toBe("ab");
  });

  test("does not stand beside a longer one that was asked for as well", () => {
    expect(names(["abc?de", "abc?de", "de"], { anchors: { 0: [[0, 20]] } })).toEqual(["abc", "de"]);
  });

  test("is not asked for by a stretch that it reaches out of", () => {
    const anchors = { 0: [[0, 10]] } as const;
    expect(names(["abc?de", "abc?de", "de"], { anchors })).toEqual(["ab", "de", "abc"]);
  });

  test("begins where an anchor without an end points, or at the next action", () => {
    const tapes = ["ab?.cd", "ab?cd", "ab"];
    expect(names(tapes)).toEqual(["ab", "cd"]);
    expect(names(tapes, { anchors: { 0: [[30, 30]] } })).toEqual(["cd", "ab"]);
    expect(names(tapes, { anchors: { 0: [[50, 50]] } })).toEqual(["ab", "cd"]);
    expect(names(tapes, { anchors: { 0: [[90, 90]] } })).toEqual(["ab", "cd"]);
  });
});

describe("a candidate", () => {
  test("names the values that vary, which would be parameters", () => {
    const { candidates } = candidatesIn(["a1b1", "a1b2", "a1b3", "a1b4", "a1b4"]);
    expect(candidates[0]?.varies).toEqual([
      { step: 1, parameter: "args", distinct: 4, examples: [["1"], ["2"], ["3"]] },
    ]);
  });

  test("is the more certain the more tapes have it and the less a model decides", () => {
    const confidence = (...tapes: string[]) => candidatesIn(tapes).candidates[0]?.confidence;
    expect(confidence("ab", "ab")).toBe(0.99);
    expect(confidence("ab", "ab", "x", "y")).toBeCloseTo(0.65 / 2 + 0.35, 10);
    expect(confidence("a!", "a!")).toBeCloseTo(0.65 + 0.35 / 2, 10);
  });

  test("is not made up from a tape that has changed in between", () => {
    const signatures = new Signatures();
    const traces = ["ab", "ab"].map((text, t) => {
      const builder = new TraceBuilder(`${t}.tape`, signatures, []);
      for (const record of records(text)) builder.add(record);
      return builder.finish();
    });
    const finder = new CandidateFinder(
      rankSequences(traces, signatures, { minExamples: 2, limit: 9 }),
      traces,
      signatures,
    );
    expect(finder.candidates((_, place) => records("ac")[place])).toBeUndefined();
    expect(finder.candidates(() => undefined)).toBeUndefined();
  });
});

describe("on random tapes", () => {
  /** The same from the words of the rules: every run of 2 to 12 letters, counted one by one. */
  function expected(tapes: readonly string[], fewest: number): string[] {
    const counts = new Map<string, number>();
    for (const tape of tapes) {
      const runs = new Set<string>();
      for (let i = 0; i < tape.length; i++) {
        for (let n = 2; n <= 12 && i + n <= tape.length; n++) runs.add(tape.slice(i, i + n));
      }
      for (const run of runs) if (!run.includes("?")) counts.set(run, (counts.get(run) ?? 0) + 1);
    }
    const frequent = [...counts].filter(([, count]) => count >= fewest);
    return frequent
      .filter(([run, count]) => !frequent.some(([other, as]) => other !== run && as === count && other.includes(run)))
      .sort(([a, m], [b, n]) => n - m || b.length - a.length || (a < b ? 1 : -1))
      .map(([run]) => run);
  }

  test("the sequences are those that counting one by one finds, in the same order", () => {
    let seed = 7;
    const chance = (below: number) => {
      seed = (seed * 48271) % 0x7fffffff;
      return seed % below;
    };
    for (let round = 0; round < 150; round++) {
      const letters = "abcdefgh?".slice(-(2 + chance(8)));
      const tape = () => Array.from({ length: chance(11) }, () => letters[chance(letters.length)]).join("");
      const tapes = Array.from({ length: 2 + chance(4) }, tape);
      const minExamples = 2 + chance(2);
      expect(names(tapes, { minExamples }), tapes.join(" ")).toEqual(expected(tapes, minExamples));
    }
  });
});
