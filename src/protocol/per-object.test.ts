import { expect, test } from "vitest";
import { perObject } from "./per-object.ts";

test("a result is computed once for each object, also where it is undefined", () => {
  const asked: object[] = [];
  const of = perObject((key: { readonly value?: number }) => {
    asked.push(key);
    return key.value;
  });
  const [one, other] = [{ value: 1 }, {}];
  expect([of(one), of(other), of(one), of(other)]).toEqual([1, undefined, 1, undefined]);
  expect(asked).toEqual([one, other]);
});
