import { describe, expect, test } from "vitest";
import { aRow } from "../../../testing/tape-files.ts";
import { Chains } from "../sidecar/chains.ts";
import type { Row } from "../sidecar/sidecar.ts";
import { histories } from "./render-history.ts";

type Status = Row["hypothesis_status"];

function stated(id: string, hypothesis_status: Status, supersedes?: string): Row {
  const metadata = new Map(supersedes === undefined ? [] : [["supersedes", supersedes]]);
  return aRow({ id, kind: "hypothesis", hypothesis_status, metadata });
}

function told(...rows: readonly Row[]) {
  const chains = new Chains();
  for (const row of rows) chains.add(row);
  return histories(rows, chains).map(({ steps }) =>
    steps.map(({ row, replaces, isNewest, isAdvised }) =>
      [row.id, replaces?.id ?? "-", isNewest ? "newest" : "old", isAdvised ? "advised" : "unusual"].join(" "),
    ),
  );
}

describe("the history of a hypothesis", () => {
  test("is told from its first row to its last, apart from others", () => {
    const rows = [
      stated("a", "active"),
      stated("x", "active"),
      stated("b", "verifying", "a"),
      stated("c", "confirmed", "b"),
    ];
    expect(told(...rows)).toEqual([
      ["a - old advised", "b a old advised", "c b newest advised"],
      ["x - newest advised"],
    ]);
  });

  test("has several ends where two rows replaced the same one", () => {
    expect(told(stated("a", "active"), stated("b", "confirmed", "a"), stated("c", "disproven", "a"))).toEqual([
      ["a - old advised", "b a newest advised", "c a newest advised"],
    ]);
  });

  test("marks a step that goes back", () => {
    expect(told(stated("a", "confirmed"), stated("b", "active", "a"))).toEqual([
      ["a - old advised", "b a newest unusual"],
    ]);
  });
});

describe("the history of anything else", () => {
  test("is told when it was replaced, and not otherwise", () => {
    const rows = [aRow({ id: "n" }), aRow({ id: "v" }), aRow({ id: "w", metadata: new Map([["supersedes", "v"]]) })];
    expect(told(...rows)).toEqual([["v - old advised", "w v newest advised"]]);
  });
});
