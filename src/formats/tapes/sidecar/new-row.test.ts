import { describe, expect, test } from "vitest";
import { aRow } from "../../../testing/tape-files.ts";
import { Unreadable } from "../../json/exact-json.ts";
import type { FreeForm } from "../../json/print-json.ts";
import { FileEnd, freeId, isAdvisedStep, newRow, type RowDraft, replacing } from "./new-row.ts";
import { HYPOTHESIS_STATUSES, type Row } from "./sidecar.ts";

const draft: RowDraft = aRow({ id: "a", event_id: 18446744073709551615n });

describe("a new row", () => {
  test("is printed with every member, and read back as a reader of the file will", () => {
    const { line, row } = newRow(draft);
    expect(line).toBe(
      '{"type":"annotation","id":"a","event_id":18446744073709551615,"kind":"note","evidence":null,"suggested_fix":null,"author":null,' +
        '"timestamp":null,"span":null,"hypothesis_status":null,"friction_kind":null,"links":[],"metadata":{}}',
    );
    expect(row).toEqual(draft);
  });

  test("keeps a kind from the future in the file, which readers of today find unknown", () => {
    const { line, row } = newRow({ ...draft, kind: "applause" });
    expect(line).toContain('"kind":"applause"');
    expect(row.kind).toBe("unknown");
  });

  test("is refused when nobody could read the file any more", () => {
    const nested = (levels: number): FreeForm => (levels === 0 ? 1n : [nested(levels - 1)]);
    expect(newRow({ ...draft, suggested_fix: nested(126) }).row.id).toBe("a");
    expect(() => newRow({ ...draft, suggested_fix: nested(127) })).toThrow(Unreadable);
    expect(() => newRow({ ...draft, evidence: "\ud83d" })).toThrow(Unreadable);
    expect(() => newRow({ ...draft, hypothesis_status: "maybe" as never })).toThrow(Unreadable);
  });

  test("has an id that no other row has", () => {
    const taken = new Set(["ann_3_1", "ann_3_2", "ann_4_3"]);
    expect(freeId(3n, (id) => taken.has(id))).toBe("ann_3_3");
    expect(freeId(4n, (id) => taken.has(id))).toBe("ann_4_1");
  });
});

describe("the end of a file", () => {
  test.each([
    ["nothing", "", "new\n"],
    ["one line", "a\n", "new\n"],
    ["an open line", "a", "\nnew\n"],
    ["lines of Windows", "a\r\nb\r\n", "new\r\n"],
    ["an open line after lines of Windows", "a\r\nb", "\r\nnew\r\n"],
    ["lines of both kinds, the last of Unix", "a\r\nb\n", "new\n"],
    ["a return that ends no line", "a\nb\r", "\nnew\n"],
  ])("takes a line after %s, however the bytes arrive", (_, content, added) => {
    const bytes = new TextEncoder().encode(content);
    for (const size of [1, 2, 3, 1000]) {
      const end = new FileEnd();
      for (let at = 0; at < bytes.length; at += size) end.take(bytes.subarray(at, at + size));
      expect(end.withLine("new")).toBe(added);
      expect(end.bytes).toBe(bytes.length);
    }
  });
});

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
