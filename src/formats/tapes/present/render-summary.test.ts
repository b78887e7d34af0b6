import { describe, expect, test } from "vitest";
import { aRow } from "../../../testing/tape-files.ts";
import { Chains } from "../sidecar/chains.ts";
import type { Row } from "../sidecar/sidecar.ts";
import { summarize } from "./render-summary.ts";

function summaryOf(...rows: readonly Row[]) {
  const chains = new Chains();
  for (const row of rows) chains.add(row);
  const { counted, mutes, ...rest } = summarize(rows, chains);
  return { ...rest, counted: counted.map(({ id }) => id), mutes: mutes.map(({ id }) => id) };
}

const replacing = (id: string) => new Map([["supersedes", id]]);

describe("what rows come to", () => {
  test("leaves out events that somebody muted, and what was replaced", () => {
    const rows = [
      aRow({ id: "a", event_id: 1n, kind: "incorrect" }),
      aRow({ id: "b", event_id: 2n, kind: "incorrect" }),
      aRow({ id: "m", event_id: 2n, kind: "mute" }),
      aRow({ id: "c", event_id: 1n, kind: "correct", metadata: replacing("a") }),
    ];
    expect(summaryOf(...rows)).toMatchObject({
      annotations: 4,
      replaced: 1,
      muted: 1,
      counted: ["c"],
      mutes: ["m"],
      kinds: [{ name: "correct", count: 1 }],
    });
  });

  test("leaves out every event in the span of a mute, and only the event when the span makes no sense", () => {
    const noted = [0n, 1n, 2n, 3n].map((event_id) => aRow({ id: String(event_id), event_id }));
    const mute = (end_event_id: bigint, start_event_id = 1n) =>
      aRow({ kind: "mute", event_id: 1n, span: { start_event_id, end_event_id } });
    expect(summaryOf(...noted, mute(2n)).counted).toEqual(["0", "3"]);
    expect(summaryOf(...noted, mute(0n)).counted).toEqual(["0", "2", "3"]);
    expect(summaryOf(...noted, mute(3n, 0n)).counted).toEqual(["0", "2", "3"]);
    expect(summaryOf(...noted, mute(2n ** 64n - 1n)).counted).toEqual(["0"]);
  });

  test("counts an event again when its mute was replaced", () => {
    const rows = [
      aRow({ id: "m", kind: "mute" }),
      aRow({ id: "a", kind: "incorrect" }),
      aRow({ id: "n", metadata: replacing("m") }),
    ];
    expect(summaryOf(...rows)).toMatchObject({ mutes: [], muted: 0, counted: ["a", "n"] });
  });

  test("counts kinds, friction and hypotheses in the order of the format, and nothing twice", () => {
    const rows = [
      aRow({ kind: "unknown" }),
      aRow({ kind: "hypothesis", hypothesis_status: "stale" }),
      aRow({ kind: "hypothesis", hypothesis_status: "active" }),
      aRow({ kind: "hypothesis" }),
      aRow({ kind: "friction", friction_kind: "tool_gap" }),
      aRow({ kind: "friction", friction_kind: "of another age" }),
      aRow({ kind: "note", friction_kind: "tool_gap", hypothesis_status: "active" }),
    ];
    expect(summaryOf(...rows)).toMatchObject({
      kinds: [
        { name: "note", count: 1 },
        { name: "hypothesis", count: 3 },
        { name: "friction", count: 2 },
        { name: "unknown", count: 1 },
      ],
      frictionKinds: [{ name: "tool_gap", count: 1 }],
      hypothesisStatuses: [
        { name: "active", count: 1 },
        { name: "stale", count: 1 },
      ],
    });
  });
});
