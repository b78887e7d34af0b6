import { describe, expect, test } from "vitest";
import { aRecord, aRow } from "../../testing/tape-files.ts";
import { presentationOf, Stops } from "./present.ts";
import type { Row } from "./sidecar/sidecar.ts";

function present(rows: readonly Partial<Row>[], seqs: readonly number[]) {
  const stops = new Stops();
  for (const row of rows) stops.add(aRow(row));
  const plan = stops.finish();
  const records = seqs.map((seq, i) => aRecord({ seq: BigInt(seq), monotonic_ms: BigInt(i) }));
  const wanted = records.filter(({ seq }) => plan.wants.has(seq));
  return { ...presentationOf(plan, wanted), wanted: wanted.map(({ seq }) => Number(seq)) };
}

const marker = (id: string, event: number, end?: number): Partial<Row> => ({
  id,
  kind: "marker",
  event_id: BigInt(event),
  span: end === undefined ? null : { start_event_id: BigInt(event), end_event_id: BigInt(end) },
});

describe("a presentation", () => {
  test("stops at markers and alternatives, by event and then in the order of the file", () => {
    const rows = [
      marker("b", 2),
      { ...marker("c", 2), kind: "alternative" as const },
      marker("a", 1),
      { id: "n", event_id: 1n },
    ];
    expect(present(rows, [2, 1]).steps.map(({ row }) => row.id)).toEqual(["a", "b", "c"]);
  });

  test("has what lies in the span, without the event itself, and asks for nothing else", () => {
    const { steps, wanted } = present([marker("a", 2, 4)], [1, 3, 2, 4, 5]);
    expect(steps[0]?.events.map(({ seq }) => seq)).toEqual([2n]);
    expect(steps[0]?.span.map(({ seq }) => seq)).toEqual([3n, 4n]);
    expect(wanted).toEqual([3, 2, 4]);
  });

  test("has every event of a number that a tape repeats", () => {
    expect(present([marker("a", 1)], [1, 0, 1]).steps[0]?.events.map(({ monotonic_ms }) => monotonic_ms)).toEqual([
      0n,
      2n,
    ]);
  });

  test("leaves out muted events and says which rows that were", () => {
    const { steps, muted } = present([marker("a", 1), marker("b", 2), { kind: "mute", event_id: 1n }], [1, 2]);
    expect(steps.map(({ row }) => row.id)).toEqual(["b"]);
    expect(muted.map(({ id }) => id)).toEqual(["a"]);
  });

  test("leaves out rows that a later one replaces", () => {
    const later = { ...marker("b", 1), metadata: new Map([["supersedes", "a"]]) };
    expect(present([marker("a", 1), later], [1]).steps.map(({ row }) => row.id)).toEqual(["b"]);
  });

  test("says which rows are about events that the tape does not have", () => {
    const { steps, lost } = present([marker("a", 1, 3), marker("b", 2)], [2, 3]);
    expect(steps.map(({ row }) => row.id)).toEqual(["b"]);
    expect(lost.map(({ id }) => id)).toEqual(["a"]);
  });
});
