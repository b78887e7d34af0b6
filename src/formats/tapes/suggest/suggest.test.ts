import { describe, expect, test } from "vitest";
import { aRow } from "../../../testing/tape-files.ts";
import { type FrictionEvent, frictionOf } from "../export.ts";
import type { Row } from "../sidecar/sidecar.ts";
import { generateContextPackSuggestions, printSuggestions, type SuggestOptions } from "./suggest.ts";

const NOW = "2027-03-01T12:00:00.000Z";

function event(id: string, row: Partial<Row> = {}, more: Partial<FrictionEvent> = {}): FrictionEvent {
  const friction = aRow({ id, kind: "friction", friction_kind: "tool_gap", evidence: "no berth tool", ...row });
  return { ...(frictionOf(friction, { tapePath: "a.tape", now: new Date(NOW) }) as FrictionEvent), ...more };
}

function suggested(events: readonly FrictionEvent[], options: Partial<SuggestOptions> = {}) {
  return generateContextPackSuggestions(events, {
    minOccurrences: 2,
    owner: null,
    newId: () => "0190-uuid",
    now: NOW,
    ...options,
  });
}

const idsOf = (events: readonly FrictionEvent[], options?: Partial<SuggestOptions>) =>
  suggested(events, options).map(({ source_event_ids }) => source_event_ids);

describe("friction that was met twice", () => {
  test("is one when the words are the same, whatever their case and punctuation are", () => {
    const evidences = ["Café №5!", "  caf\u3000 5", "CAF-5"];
    expect(idsOf(evidences.map((evidence, i) => event(`e${i}`, { evidence })))).toEqual([["e0", "e1", "e2"]]);
  });

  test("is not one when a letter becomes an ASCII letter only in lower case", () => {
    expect(idsOf([event("a", { evidence: "273 \u212a" }), event("b", { evidence: "273 k" })])).toEqual([]);
  });

  test.each([
    ["kind", event("b", { friction_kind: "missing_context" })],
    ["source", event("b", {}, { source: "b.tape" })],
    ["tool", event("b", {}, { tool: "psql" })],
    ["provider", event("b", {}, { provider: "db" })],
    ["words", event("b", { evidence: "no berth" })],
    ["hint", event("b", {}, { recurrence_hints: ["berths"] })],
  ])("is not one when the %s differs", (_, other) => {
    expect(idsOf([event("a"), other])).toEqual([]);
  });

  test("is one by its first hint, whatever the words are", () => {
    const hinted = (id: string, evidence: string, hint: string) =>
      event(id, { evidence }, { recurrence_hints: [hint] });
    const [suggestion, ...others] = suggested([hinted("a", "x", "The Dock"), hinted("b", "y", "The Dock")]);
    expect(others).toEqual([]);
    expect(suggestion?.title).toBe("a.tape The Dock context pack");
    expect(suggestion?.candidate_manifest.triggers[0]?.match_hint).toBe("The Dock");
  });

  test("is not enough where more is asked for, and once is never enough", () => {
    const twice = [event("a"), event("b")];
    expect(idsOf(twice, { minOccurrences: 3 })).toEqual([]);
    expect(idsOf(twice, { minOccurrences: 0 })).toEqual([["a", "b"]]);
    expect(idsOf([event("a")], { minOccurrences: 1 })).toEqual([]);
  });
});

describe("suggestions", () => {
  test("come in the byte order of what they are grouped by", () => {
    const words = ["x 2", "x 10", "\u{1f600} z", "x"];
    const events = words.flatMap((evidence, i) => [event(`${i}a`, { evidence }), event(`${i}b`, { evidence })]);
    const sources = [event("s1", {}, { source: "\u{1f600}" }), event("s2", {}, { source: "\u{1f600}" })];
    const late = [event("l1", {}, { source: "\uffee" }), event("l2", {}, { source: "\uffee" })];
    const found = suggested([...sources, ...late, ...events]).map(({ source_event_ids: [first] }) => first);
    expect(found).toEqual(["3a", "1a", "0a", "2a", "l1", "s1"]);
  });

  test("hold their events by time as text, then by id", () => {
    const at = (id: string, timestamp: string) => event(id, { timestamp });
    expect(idsOf([at("c", "2026-2"), at("b", "2026-10"), at("a", "2026-2"), at("d", "2026-10")])).toEqual([
      ["b", "d", "a", "c"],
    ]);
  });

  test.each([
    [2, 0.62],
    [3, 0.74],
    [4, 0.82],
    [5, 0.9],
    [9, 0.9],
  ])("of %i events have confidence %d", (count, confidence) => {
    const events = Array.from({ length: count }, (_, i) => event(`e${i}`));
    expect(suggested(events)[0]?.confidence).toBe(confidence);
  });

  test.each([
    ["approval_stall", "workflow"],
    ["manual_handoff", "workflow"],
    ["tool_gap", "both"],
    ["failed_assumption", "both"],
    ["expensive_model_used_for_deterministic_step", "both"],
    ["repeated_query", "context_pack"],
    ["human_hypothesis", "context_pack"],
  ])("for %s recommend %s", (friction_kind, artifact) => {
    const [suggestion] = suggested([event("a", { friction_kind }), event("b", { friction_kind })]);
    expect(suggestion?.recommended_artifact).toBe(artifact);
    expect(suggestion?.candidate_manifest.metadata).toEqual({ recommended_artifact: artifact });
  });

  test("are named after the source and the first six words", () => {
    const evidence = "One, two; THREE four five six seven";
    const [suggestion] = suggested([event("a", { evidence }), event("b", { evidence })]);
    expect(suggestion?.title).toBe("a.tape one two three four five six context pack");
    expect(suggestion?.candidate_manifest.id).toBe("a_tape_one_two_three_four_five_six");
    const [nameless] = suggested([event("a", {}, { source: null }), event("b", {}, { source: null })]);
    expect(nameless?.title).toBe("team no berth tool context pack");
  });

  test("show at most three different summaries, in byte order", () => {
    const evidences = ["no berth tool!", "No berth tool", "no berth tool", "no  berth tool", "No berth tool"];
    const [suggestion] = suggested(evidences.map((evidence, i) => event(`e${i}`, { evidence })));
    expect(suggestion?.examples).toEqual(["No berth tool", "no  berth tool", "no berth tool"]);
  });

  test("save what all but the first event cost", () => {
    const cost = (id: string, usd: number | null, ms: bigint | null) =>
      event(id, {}, { estimated_cost_usd: usd, estimated_time_ms: ms });
    const [suggestion] = suggested([
      cost("a", 100, 7n),
      cost("b", 0.5, 2n ** 60n),
      cost("c", null, null),
      cost("d", 1, 1n),
    ]);
    expect(suggestion?.estimated_savings).toEqual({
      occurrences: 4n,
      estimated_time_saved_ms: 2n ** 60n + 1n,
      estimated_cost_saved_usd: 1.5,
    });
  });

  test("print whole numbers exactly, and confidence and costs as floats", () => {
    const text = printSuggestions(suggested([event("a"), event("b", {}, { estimated_time_ms: 9007199254740993n })]));
    expect(text).toContain('"confidence":0.62,');
    expect(text).toContain(
      '"estimated_savings":{"estimated_cost_saved_usd":0.0,"estimated_time_saved_ms":9007199254740993,"occurrences":2}',
    );
    expect(JSON.parse(text)[0]).toMatchObject({
      _type: "context_pack_suggestion",
      id: "context_pack_suggestion_0190-uuid",
      created_at: NOW,
      candidate_manifest: { version: 1 },
    });
    expect(printSuggestions([])).toBe("[]");
  });
});

describe("across sources", () => {
  const [a, b] = [event("a"), event("b", {}, { source: "b.tape" })];

  test("the same friction meets, and belongs to the team", () => {
    const [suggestion] = suggested([a, b], { acrossSources: true });
    expect(suggestion?.title).toBe("team no berth tool context pack");
    expect(suggestion?.evidence.map(({ source }) => source)).toEqual(["a.tape", "b.tape"]);
    expect(suggestion?.candidate_manifest).toMatchObject({ triggers: [{ source: null }], inputs: [{ source: null }] });
  });

  test("a source that all share is named", () => {
    const [suggestion] = suggested([a, event("c")], { acrossSources: true });
    expect(suggestion?.title).toBe("a.tape no berth tool context pack");
  });
});
