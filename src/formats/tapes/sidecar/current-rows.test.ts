import { describe, expect, test } from "vitest";
import { pick, randomFrom } from "../../../testing/random-workflow.ts";
import { aRow } from "../../../testing/tape-files.ts";
import type { FreeForm } from "../../json/print-json.ts";
import { Chains, EventStretches, stretchOf } from "./current-rows.ts";
import type { Row } from "./sidecar.ts";

function row(id: string, supersedes?: FreeForm, eventId = 1n): Row {
  return aRow({
    id,
    event_id: eventId,
    metadata: new Map(supersedes === undefined ? [] : [["supersedes", supersedes]]),
  });
}

function chained(...rows: readonly Row[]) {
  const chains = new Chains();
  for (const one of rows) chains.add(one);
  const standing = rows.filter((_, index) => !chains.isReplaced(index)).map(({ id }) => id);
  return { chains, standing, loose: chains.loose, groups: [...chains.groups().values()] };
}

describe("rows that replace others", () => {
  test("leave the newest of each chain", () => {
    const { standing, groups, loose } = chained(row("a"), row("x"), row("b", "a"), row("c", "b"), row("y", "x"));
    expect({ standing, groups, loose }).toEqual({
      standing: ["c", "y"],
      groups: [
        [0, 2, 3],
        [1, 4],
      ],
      loose: 0,
    });
  });

  test("may part: every end is the newest", () => {
    const { standing, groups, chains } = chained(row("a"), row("b", "a"), row("c", "a"), row("d", "b"));
    expect(standing).toEqual(["c", "d"]);
    expect(groups).toEqual([[0, 1, 2, 3]]);
    expect([0, 1, 2, 3].map((index) => chains.earlierThan(index))).toEqual([undefined, 0, 0, 1]);
  });

  test("may be of any kind", () => {
    const taken = { ...row("b", "a"), kind: "note" as const };
    expect(chained({ ...row("a"), kind: "incorrect" }, taken).standing).toEqual(["b"]);
  });

  test("replace the nearest one above when an id is used twice", () => {
    const { chains } = chained(row("a"), row("a"), row("b", "a"), row("a"));
    expect([0, 1, 2, 3].map((index) => chains.isReplaced(index))).toEqual([false, true, false, false]);
  });
});

describe("a link that makes no chain", () => {
  test.each<[string, Row[]]>([
    ["names nobody", [row("a"), row("b", "z")]],
    ["names a row below", [row("a", "b"), row("b")]],
    ["names itself", [row("a", "a"), row("b")]],
    ["names a row about another event", [row("a", undefined, 2n), row("b", "a")]],
    ["is no text", [row("1"), row("b", 1n)]],
    ["names rows without an id", [row(""), row("b", "")]],
  ])("replaces nothing, and is counted: it %s", (_, rows) => {
    const { standing, loose, groups } = chained(...rows);
    expect({ standing, loose, groups }).toEqual({ standing: rows.map(({ id }) => id), loose: 1, groups: [] });
  });

  test("is not there when it is null", () => {
    expect(chained(row("a"), row("b", null)).loose).toBe(0);
  });

  test("cannot close a circle: the last row stands", () => {
    expect(chained(row("a", "c"), row("b", "a"), row("c", "b"))).toMatchObject({ standing: ["c"], loose: 1 });
  });
});

test("whatever rows name, each of them stands or has a later one that stands in its place", () => {
  const random = randomFrom(7);
  const ids = ["a", "b", "c", "d", ""];
  for (let round = 0; round < 300; round++) {
    const rows = Array.from({ length: 8 }, () =>
      row(pick(random, ids), pick(random, [...ids, undefined]), pick(random, [1n, 2n])),
    );
    const { chains, groups } = chained(...rows);
    const inGroup = new Map(groups.flatMap((group) => group.map((index) => [index, group] as const)));
    for (const index of rows.keys()) {
      const later = (inGroup.get(index) ?? [index]).filter((one) => one >= index && !chains.isReplaced(one));
      expect(later).not.toEqual([]);
    }
    expect(groups.flat()).toHaveLength(inGroup.size);
  }
});

test("an event is among stretches when any of them holds it, however they lie", () => {
  const random = randomFrom(3);
  const some = [0n, 1n, 2n, 3n, 5n, 8n, 2n ** 63n, 2n ** 64n - 1n];
  for (let round = 0; round < 300; round++) {
    const rows = Array.from({ length: round % 5 }, () => {
      const event_id = pick(random, some);
      return aRow({ event_id, span: { start_event_id: event_id, end_event_id: pick(random, some) } });
    });
    const stretches = new EventStretches(rows);
    for (const seq of [...some, 4n, 6n, 9n]) {
      const held = rows.map(stretchOf).some(({ first, last }) => first <= seq && seq <= last);
      expect(stretches.has(seq)).toBe(held);
    }
  }
});
