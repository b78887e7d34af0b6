import { expect, test } from "vitest";
import { defined } from "./defined.ts";

test("members without a value are absent; null, false, zero and the empty text are values", () => {
  const members = defined({ a: undefined, b: null, c: false, d: 0, e: "" });
  expect(Object.entries(members)).toEqual([
    ["b", null],
    ["c", false],
    ["d", 0],
    ["e", ""],
  ]);
});

test("a member of the result is optional only where it may have no value", () => {
  const note: string | undefined = ["text"].at(0);
  const record: { readonly id: number; readonly note?: string } = defined({ id: 1, note });
  expect(record).toEqual({ id: 1, note: "text" });
  expect(defined({ id: 1, note: undefined })).toStrictEqual({ id: 1 });
});
