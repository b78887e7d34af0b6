import { describe, expect, test } from "vitest";
import { aRow } from "../../testing/tape-files.ts";
import { exportChoice, frictionOf, isSelected, printFrictionEvent } from "./export.ts";
import { FRICTION_KINDS } from "./sidecar/sidecar.ts";

describe("what to export", () => {
  test("is everything as it stands, unless said otherwise", () => {
    const choice = exportChoice("s", [], undefined);
    expect(choice.format).toBe("jsonl");
    expect(isSelected(choice, aRow({ kind: "unknown" }))).toBe(true);
  });

  test("is the same for a format that is empty", () => {
    expect(exportChoice("s", [], "").format).toBe("jsonl");
  });

  test("is every kind that is named", () => {
    const choice = exportChoice("s", ["note", "mute", "note"], "friction");
    expect([aRow(), aRow({ kind: "mute" }), aRow({ kind: "marker" })].map((row) => isSelected(choice, row))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test.each(["unknown", "", "Note", "note,mute"])("is never of a kind called %j", (word) => {
    expect(() => exportChoice("s", ["note", word], "csv")).toThrow(
      expect.objectContaining({
        code: "unknown_kind_filter",
        path: "s",
        message: expect.stringContaining(`'${word}'`),
      }),
    );
  });

  test.each(["csv", "JSONL", " jsonl"])("is never of a format called %j", (word) => {
    expect(() => exportChoice("s", [], word)).toThrow(expect.objectContaining({ code: "bad_format", path: "s" }));
  });
});

const source = { tapePath: "runs/one.tape", now: new Date("2026-06-01T08:00:00.250Z") };
const friction = aRow({ kind: "friction", friction_kind: "tool_gap", event_id: 2n ** 64n - 1n });

describe("a row about friction", () => {
  test.each(FRICTION_KINDS)("becomes an event of kind %s", (kind) => {
    expect(frictionOf({ ...friction, friction_kind: kind }, source)?.kind).toBe(kind);
  });

  test("without id, evidence, time and author gets them from its event and the clock", () => {
    expect(frictionOf(friction, source)).toMatchObject({
      id: "annotation_18446744073709551615",
      redacted_summary: "annotation  on event 18446744073709551615",
      timestamp: "2026-06-01T08:00:00.250Z",
      actor: null,
      source: "runs/one.tape",
    });
  });

  test("keeps evidence that is empty, and a time that is none", () => {
    const event = frictionOf({ ...friction, evidence: "", timestamp: "" }, source);
    expect(event).toMatchObject({ redacted_summary: "", timestamp: "" });
  });

  test("hands on its links with the reference as their trace", () => {
    const links = [{ label: "chart", url: null, reference: "T-3" }];
    expect(frictionOf({ ...friction, links }, source)?.links).toEqual([{ label: "chart", url: null, trace_id: "T-3" }]);
  });

  test("is printed with every member, in the order of the format, and with the numbers of its metadata exact", () => {
    const event = frictionOf({ ...friction, metadata: new Map([["n", 2n ** 63n]]) }, { ...source, tapePath: null });
    expect(event && printFrictionEvent(event)).toBe(
      '{"schema_version":1,"id":"annotation_18446744073709551615","kind":"tool_gap","source":null,"actor":null,' +
        '"tenant_id":null,"task_id":null,"run_id":null,"workflow_id":null,"tool":null,"provider":null,' +
        '"redacted_summary":"annotation  on event 18446744073709551615","estimated_cost_usd":null,"estimated_time_ms":null,' +
        '"recurrence_hints":[],"trace_id":null,"span_id":null,"links":[],"human_hypothesis":null,' +
        '"metadata":{"n":9223372036854775808},"timestamp":"2026-06-01T08:00:00.250Z"}',
    );
  });
});

describe("a row that cannot be said as friction", () => {
  test.each([
    ["is of another kind", { kind: "note" as const }],
    ["names no kind of friction", { friction_kind: null }],
    ["names one that does not exist", { friction_kind: "Tool_gap" }],
    ["names the empty one", { friction_kind: "" }],
  ])("gives nothing: it %s", (_, over) => {
    expect(frictionOf({ ...friction, ...over }, source)).toBeUndefined();
  });
});
