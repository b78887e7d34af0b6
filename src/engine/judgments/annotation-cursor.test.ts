import { expect, test } from "vitest";
import { cursorAt, placeOf } from "./annotation-cursor.ts";

const PLACE = { createdAtMs: 1_800_000_000_000, annotationId: "ann-01k4zzzzzzzzzzzzzzzzzzzzzz" };

test("a cursor gives back the place it was made of", () => {
  expect(placeOf(cursorAt(PLACE))).toEqual(PLACE);
  expect(cursorAt(PLACE)).toMatch(/^[\w-]+$/);
});

test("an id from elsewhere makes a cursor like any other", () => {
  const place = { createdAtMs: 0, annotationId: "naïve id / 7" };
  expect(placeOf(cursorAt(place))).toEqual(place);
});

test.each([
  "x",
  "ann-01k4zzzzzzzzzzzzzzzzzzzzzz",
  Buffer.from("soon ann-1").toString("base64url"),
  Buffer.from("12").toString("base64url"),
  Buffer.from("-1 ann-1").toString("base64url"),
  Buffer.from("007 ann-1").toString("base64url"),
  `${cursorAt(PLACE)}=`,
  `${cursorAt(PLACE)} `,
  cursorAt(PLACE).slice(1),
])("%j is no cursor", (text) => {
  expect(() => placeOf(text)).toThrow(/cursor is not one this host gave out/);
});
