import { describe, expect, test } from "vitest";
import { HYPOTHESIS_STATUSES, type Row } from "./sidecar.ts";
import { isAdvisedStep, replacing } from "./status-change.ts";

describe("the status of a hypothesis", () => {
  test("goes on, may leave a step out, may be said again, and does not come back from an end", () => {
    const steps = HYPOTHESIS_STATUSES.flatMap((from) => HYPOTHESIS_STATUSES.map((to) => [from, to] as const));
    const advised = steps
      .filter(([from, to]) => from !== to && isAdvisedStep(from, to))
      .map((step) => step.join(" > "));
    expect(advised).toEqual([
      "active > verifying",
      "active > confirmed",
      "active > disproven",
      "active > stale",
      "verifying > confirmed",
      "verifying > disproven",
      "verifying > stale",
    ]);
    expect(HYPOTHESIS_STATUSES.every((status) => isAdvisedStep(status, status))).toBe(true);
  });
});

describe("a row that replaces another", () => {
  const earlier: Row = {
    id: "h1",
    event_id: 4n,
    kind: "hypothesis",
    evidence: "the cache is cold",
    suggested_fix: null,
    author: { id: "ada", kind: "human", surface: null },
    timestamp: "2026-03-01T00:00:00Z",
    span: { start_event_id: 4n, end_event_id: 6n },
    hypothesis_status: "active",
    friction_kind: null,
    links: [{ label: null, url: "https://example.org", reference: null }],
    metadata: new Map([
      ["supersedes", "h0"],
      ["team", "ops"],
    ]),
  };
  const anew = { id: "h2", author: null, timestamp: "2026-03-02T00:00:00Z", metadata: new Map() };

  test("says what still holds, and names the row that it replaces", () => {
    expect(replacing(earlier, { ...anew, hypothesis_status: "confirmed" })).toEqual({
      ...earlier,
      ...anew,
      hypothesis_status: "confirmed",
      metadata: new Map([
        ["supersedes", "h1"],
        ["team", "ops"],
      ]),
    });
  });

  test("does not take over what belongs to another kind", () => {
    expect(replacing(earlier, { ...anew, kind: "note" })).toMatchObject({ kind: "note", hypothesis_status: null });
    const friction: Row = { ...earlier, kind: "friction", hypothesis_status: null, friction_kind: "tool_gap" };
    expect(replacing(friction, { ...anew, kind: "note" }).friction_kind).toBe(null);
    expect(replacing(friction, { ...anew, kind: "friction" }).friction_kind).toBe("tool_gap");
  });
});
