import { describe, expect, test } from "vitest";
import { aRow } from "../../../testing/tape-files.ts";
import { type Anchor, anchorOf, printAnchor } from "./anchors.ts";

const far = 2n ** 64n - 1n;

describe("an anchor", () => {
  test("ends where the span of its row ends, also when that is before it begins", () => {
    const span = { start_event_id: 0n, end_event_id: 1n };
    expect(anchorOf(aRow({ kind: "crystallize_here", event_id: 2n, span }))).toMatchObject({
      event_id: 2n,
      end_event_id: 1n,
    });
  });

  test("is its event alone without a span", () => {
    expect(anchorOf(aRow({ kind: "crystallize_here", event_id: 2n }))?.end_event_id).toBe(2n);
  });

  test("is made of no other kind", () => {
    expect(anchorOf(aRow({ kind: "marker" }))).toBeUndefined();
  });

  test("is printed with all digits of its numbers, and with its file when there are many", () => {
    const row = aRow({ kind: "crystallize_here", event_id: far, metadata: new Map([["n", -(2n ** 63n)]]) });
    const anchor = anchorOf(row) as Anchor;
    const members = `"event_id":${far},"end_event_id":${far},"evidence":null,"author":null,"metadata":{"n":-9223372036854775808}`;
    expect(printAnchor(anchor)).toBe(`{${members}}`);
    expect(printAnchor(anchor, 'a"b')).toBe(`{"file":"a\\"b",${members}}`);
  });
});
