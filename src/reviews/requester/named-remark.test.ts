import { expect, test } from "vitest";
import { namedRemark } from "./named-remark.ts";

const remarks = {
  shown: ["tone-02", "todo-mark.a1", "todo-mark.b2"],
  all: ["title-01", "tone-02", "todo-mark.a1", "todo-mark.b2", "7"],
};

test.each([
  ["todo-mark.a1", "todo-mark.a1"],
  ["1", "tone-02"],
  ["3", "todo-mark.b2"],
  ["todo-mark.b", "todo-mark.b2"],
  ["to-", undefined],
  ["ton", "tone-02"],
  ["ti", "title-01"],
  ["7", "7"],
])("%s names the remark %s", (named, id) => {
  const found = namedRemark(named, remarks);
  expect("id" in found ? found.id : undefined).toBe(id);
});

test("a beginning that several remarks share is refused with their ids", () => {
  expect(namedRemark("todo", remarks)).toEqual({
    problem: "todo could be todo-mark.a1 or todo-mark.b2; type more of it",
  });
});

test("an unknown name is refused with the numbers and the nearest id", () => {
  expect(namedRemark("tnoe-02", remarks)).toEqual({
    problem:
      "no remark of this review is called tnoe-02; name it by its id or the beginning of it, or by its number, 1 to 3. Did you mean tone-02?",
  });
  for (const number of ["0", "4", ""]) expect(namedRemark(number, remarks)).toHaveProperty("problem");
});
