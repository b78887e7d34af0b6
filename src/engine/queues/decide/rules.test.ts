import { describe, expect, test } from "vitest";
import { AppError } from "../../../protocol/errors.ts";
import type { Voter } from "../../../protocol/gates/gate-rules.ts";
import { annotationMatches, type ComparedAnnotation, isSampled } from "./matches.ts";
import { annotationsFor, changedRules, mayAdjudicate, mayReview, NOT_FLAGGED, newRules } from "./rules.ts";

const RATING = { name: "q", judgment: { kind: "rating" } } as const;

function fieldOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error.details["field"] ?? error.code;
    throw error;
  }
  return "taken";
}

describe("the rules of a queue", () => {
  test("are filled in where they say nothing", () => {
    expect(newRules(RATING)).toEqual({
      ...RATING,
      reviewersRequired: 1,
      blind: false,
      noteRequired: false,
      correction: "off",
      selfAdjudication: false,
      maxSpread: 0,
      leaseSeconds: 900,
    });
    expect(newRules({ ...RATING, reviewersRequired: 2 }).blind).toBe(true);
    expect(newRules({ ...RATING, reviewersRequired: 2, blind: false }).blind).toBe(false);
  });

  test.each([
    ["judgment.labels", { judgment: { kind: "label", labels: ["a", "b", "a"] } }],
    ["maxSpread", { judgment: { kind: "flag" }, maxSpread: 1 }],
    ["assign", { assign: {} }],
    ["assign", { assign: { people: [], roles: [] } }],
    ["assign.people", { assign: { people: ["ana", "ana"] }, reviewersRequired: 2 }],
    ["adjudicators", { adjudicators: { groups: [] } }],
    ["query.nodeId", { query: { nodeId: "a" } }],
    ["query.label", { query: { flagged: true, label: "x" } }],
    ["query.ratingMax", { query: { label: "x", ratingMax: 2 } }],
    ["query.status", { query: { status: "running" } }],
    ["query.from", { query: { from: "2025-02-30T00:00:00Z" } }],
  ])("are refused when %s cannot be meant", (field, more) => {
    expect(fieldOf(() => newRules({ ...RATING, ...more } as never))).toBe(field);
  });

  test("may name roles or groups of unknown size", () => {
    const assign = { people: ["ana"], groups: ["legal"] };
    expect(newRules({ ...RATING, reviewersRequired: 3, assign }).assign).toEqual(assign);
  });

  test("change where something is said, and lose what is set to null", () => {
    const before = newRules({ ...RATING, query: { flagged: true }, assign: { people: ["ana"] } });
    const after = changedRules(before, { name: "other", query: null, assign: null });
    expect(after).toEqual(newRules({ ...RATING, name: "other" }));
    expect(fieldOf(() => changedRules(before, { reviewersRequired: 2 }))).toBe("assign.people");
  });
});

describe("who may review", () => {
  const who = (more: Partial<Voter>): Voter => ({
    principal: "ana",
    kind: "user",
    roles: ["reviewer"],
    groups: [],
    grants: () => false,
    ...more,
  });

  test("is any person where nobody is named, and no agent", () => {
    expect(mayReview({}, who({}))).toBe(true);
    for (const kind of ["agent", "code"] as const) expect(mayReview({}, who({ kind }))).toBe(false);
  });

  test("is whoever is named, has a role that contains the named one, or is in the group", () => {
    expect(mayReview({ assign: { people: ["ana"] } }, who({}))).toBe(true);
    expect(mayReview({ assign: { people: ["ben"] } }, who({}))).toBe(false);
    expect(mayReview({ assign: { roles: ["reviewer"] } }, who({ roles: ["admin"] }))).toBe(true);
    expect(mayReview({ assign: { roles: ["admin"] } }, who({}))).toBe(false);
    expect(mayReview({ assign: { groups: ["legal"] } }, who({ groups: ["legal"] }))).toBe(true);
  });

  test("is no agent by its role alone", () => {
    const assign = { people: ["bot"], roles: ["reviewer"], groups: ["bots"] };
    const agent = { kind: "agent", principal: "other" } as const;
    expect(mayReview({ assign }, who(agent))).toBe(false);
    expect(mayReview({ assign }, who({ ...agent, principal: "bot" }))).toBe(true);
    expect(mayReview({ assign }, who({ ...agent, groups: ["bots"] }))).toBe(true);
  });

  test("is another question than who may adjudicate", () => {
    expect(mayAdjudicate({}, who({}))).toBe(false);
    expect(mayAdjudicate({}, who({ grants: (scope) => scope === "queues:manage" }))).toBe(true);
    expect(mayAdjudicate({ adjudicators: { people: ["ana"] } }, who({}))).toBe(true);
  });
});

describe("what is said about an item", () => {
  const rules = newRules(RATING);

  test("is what the queue asks for", () => {
    expect(annotationsFor(rules, { value: 4, note: "ok" })).toEqual([
      { signal: { kind: "rating", rating: 4 }, note: "ok" },
    ]);
    for (const value of ["4", true]) expect(fieldOf(() => annotationsFor(rules, { value }))).toBe("value");
    const labels = newRules({ ...RATING, judgment: { kind: "label", labels: ["a", "b"] } });
    expect(annotationsFor(labels, { value: "b" })).toEqual([{ signal: { kind: "label", label: "b" } }]);
    for (const value of ["c", 1, true]) expect(fieldOf(() => annotationsFor(labels, { value }))).toBe("value");
    const flags = newRules({ ...RATING, judgment: { kind: "flag" } });
    expect(annotationsFor(flags, { value: true })).toEqual([{ signal: { kind: "flag" } }]);
    expect(annotationsFor(flags, { value: false })).toEqual([{ signal: { kind: "label", label: NOT_FLAGGED } }]);
    for (const value of ["true", 1]) expect(fieldOf(() => annotationsFor(flags, { value }))).toBe("value");
  });

  test("has a note and a correction where the queue wants them, and no correction where it does not", () => {
    expect(fieldOf(() => annotationsFor({ ...rules, noteRequired: true }, { value: 4 }))).toBe("note");
    expect(fieldOf(() => annotationsFor(rules, { value: 4, correction: "x" }))).toBe("correction");
    expect(fieldOf(() => annotationsFor({ ...rules, correction: "required" }, { value: 4 }))).toBe("correction");
    expect(annotationsFor({ ...rules, correction: "optional" }, { value: 4 })).toHaveLength(1);
    expect(annotationsFor({ ...rules, correction: "optional" }, { value: 4, correction: "x" })[1]).toEqual({
      signal: { kind: "correction", correction: "x" },
    });
  });
});

describe("a query over what was said", () => {
  const said: ComparedAnnotation = {
    runId: "run-1",
    workflowId: "w",
    agentId: "a",
    aboutNode: "n",
    signal: { kind: "rating", rating: 2 },
    state: "live",
    createdAtMs: Date.parse("2025-06-01T00:00:00Z"),
  };

  test("finds what matches in every respect", () => {
    const query = { ratingMax: 2, workflowId: "w", agentId: "a", nodeId: "n", from: "2025-06-01T00:00:00Z" };
    expect(annotationMatches(query, said)).toBe(true);
    for (const other of [
      { ratingMax: 1 },
      { workflowId: "x" },
      { agentId: "x" },
      { nodeId: "x" },
      { from: "2025-06-01T00:00:01Z" },
    ]) {
      expect(annotationMatches({ ...query, ...other }, said)).toBe(false);
    }
  });

  test("finds nothing that was taken back, and no flag that was closed", () => {
    expect(annotationMatches({ ratingMax: 5 }, { ...said, state: "retracted" })).toBe(false);
    const flag: ComparedAnnotation = { ...said, signal: { kind: "flag" }, flag: { status: "open" } };
    expect(annotationMatches({ flagged: true }, flag)).toBe(true);
    expect(annotationMatches({ flagged: true }, { ...flag, flag: { status: "closed" } })).toBe(false);
    expect(annotationMatches({ label: "x" }, { ...said, signal: { kind: "label", label: "x" } })).toBe(true);
    expect(annotationMatches({ label: "x" }, { ...said, signal: { kind: "label", label: "y" } })).toBe(false);
  });
});

describe("a sample", () => {
  const ids = Array.from({ length: 4000 }, (_, i) => `run-01k4zzzzzzzzzzzzzzzzzz${String(i).padStart(4, "0")}`);

  test("has about the share that is asked for, even of ids that differ little", () => {
    for (const share of [0.05, 0.3, 0.8]) {
      const found = ids.filter((id) => isSampled(id, share)).length / ids.length;
      expect(Math.abs(found - share)).toBeLessThan(0.04);
    }
    expect(ids.every((id) => isSampled(id, 1))).toBe(true);
  });

  test("is always the same, and part of every larger one", () => {
    for (const id of ids) {
      expect(isSampled(id, 0.2)).toBe(isSampled(id, 0.2));
      if (isSampled(id, 0.2)) expect(isSampled(id, 0.5)).toBe(true);
    }
  });
});
