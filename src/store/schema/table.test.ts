import { expect, test } from "vitest";
import { adding, flag, int, json, replacing, table, text, time } from "./table.ts";

const things = table(
  "things",
  {
    thing_id: text(),
    tags: json<readonly string[]>(),
    is_open: flag(),
    size: int().orNull,
    made_at: time().as("atMs"),
    closed_at: time().orNull,
    lease_owner: text().orNull.hidden,
  },
  { key: ["thing_id"], changing: ["size", "closed_at"] },
);

const ROW = {
  thing_id: "t1",
  tags: '["a"]',
  is_open: 1,
  size: null,
  made_at: 7,
  closed_at: 9,
  lease_owner: null,
};
const RECORD = { thingId: "t1", tags: ["a"], isOpen: true, atMs: 7, closedAtMs: 9 };

test("a record becomes a row: absent members are null, JSON is text, flags are 0 or 1", () => {
  expect(things.toRow(RECORD)).toEqual(ROW);
  expect(things.toRow({ ...RECORD, isOpen: false }).is_open).toBe(0);
});

test("a row becomes the record that it was made of, without its hidden columns", () => {
  expect(things.toRecord({ ...ROW, lease_owner: "w1" })).toEqual(RECORD);
});

test("a part of a row becomes that part of the record, and no column of another table gets into it", () => {
  expect(things.toRecord({ thing_id: "t1", size: 3, other: "x" } as { thing_id: string; size: number })).toEqual({
    thingId: "t1",
    size: 3,
  });
});

test("a row that is there is replaced in the columns that change, and numbers are added to it", () => {
  expect(replacing(things)).toBe(
    "on conflict (thing_id) do update set size = excluded.size, closed_at = excluded.closed_at",
  );
  expect(replacing(things, { by: ["tags"], columns: ["size"], where: "things.size > 0" })).toBe(
    "on conflict (tags) do update set size = excluded.size where things.size > 0",
  );
  expect(adding(table("sums", { name: text(), n: int() }, { key: ["name"] }))).toBe(
    "on conflict (name) do update set n = sums.n + excluded.n",
  );
});
