import { describe, expect, test } from "vitest";
import { parseReviewers } from "./written-reviewer.ts";

const read = (raw: unknown) => parseReviewers(raw, "/srv");

describe("who reviews under a name", () => {
  test("is the rules, a model, or a program with its arguments", () => {
    expect(
      read(["strict=builtin", "deep=model", "deeper = model:qwen3:14b", "own=command:node review.js --deep"]),
    ).toEqual([
      { agent: "strict", type: "builtin" },
      { agent: "deep", type: "model" },
      { agent: "deeper", type: "model", model: "qwen3:14b" },
      { agent: "own", type: "command", program: "node", args: ["review.js", "--deep"] },
    ]);
  });

  test("is a program beside the file that names it when it has a slash", () => {
    expect(read("a=command:./review.py; b=command:/opt/review")).toEqual([
      { agent: "a", type: "command", program: "/srv/review.py", args: [] },
      { agent: "b", type: "command", program: "/opt/review", args: [] },
    ]);
  });

  test("may have blanks and semicolons in its words where they are quoted in a list", () => {
    expect(read([`a=command:"./my review" 'x; y' ""`])).toEqual([
      { agent: "a", type: "command", program: "/srv/my review", args: ["x; y", ""] },
    ]);
  });

  test("is nobody when nothing is written", () => {
    expect([read([]), read(" ; ")]).toEqual([[], []]);
  });

  test.each([
    ["builtin", /must be NAME=builtin/],
    ["a=rules", /must be NAME=builtin.*"a=rules"/],
    ["../a=builtin", /must be NAME=builtin/],
    ["a=builtin:x", /nothing behind it/],
    ["a=command", /must name the program of a/],
    ["a=command: ", /must name the program of a/],
    ['a=command:""', /must name the program of a/],
    ["a=builtin;a=model", /binds a twice/],
    [[7], /not 7/],
    [{ a: "builtin" }, /must be NAME=builtin/],
  ])("is refused when it cannot be read: %j", (raw, problem) => {
    expect(() => read(raw)).toThrow(problem);
  });
});
