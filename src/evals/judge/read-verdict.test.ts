import { describe, expect, test } from "vitest";
import { EVIDENCE_MAX, type JudgeInput } from "../../protocol/evals/judge-api.ts";
import { readVerdict } from "./read-verdict.ts";

const asked: JudgeInput = {
  version: 1,
  taskId: "t",
  trial: 1,
  criteria: [
    { number: 1, criterion: "is polite" },
    { number: 2, criterion: "names the price" },
  ],
  adversarial: false,
  data: { input: "q", output: "a", toolResults: [] },
};
const met = (number: number) => ({ number, met: true, evidence: "it says so" });
const finding = { kind: "data-leak", severity: "high", evidence: "the number" };

describe("a verdict", () => {
  test("is taken as it is when it answers every criterion in order", () => {
    const answer = { criteria: [met(1), { ...met(2), met: false }], findings: [finding] };
    expect(readVerdict(answer, asked)).toEqual({ ok: true, verdict: answer });
  });

  test("of no criteria is an empty list", () => {
    expect(readVerdict({ criteria: [] }, { ...asked, criteria: [] })).toMatchObject({ ok: true });
  });

  test.each([
    ["nothing", undefined, /form of a verdict/],
    ["a sentence", "All criteria are met.", /form of a verdict/],
    ["a score", { score: 1 }, /form of a verdict/],
    ["another shape in a list", [met(1), met(2)], /form of a verdict/],
    ["a word in place of yes or no", { criteria: [met(1), { ...met(2), met: "true" }] }, /met/],
    ["one verdict too few", { criteria: [met(1)] }, /1 verdicts, and 2 criteria/],
    ["one verdict too many", { criteria: [met(1), met(2), met(3)] }, /3 verdicts, and 2 criteria/],
    ["verdicts in another order", { criteria: [met(2), met(1)] }, /verdict 1 is about criterion 2/],
    ["the same verdict twice", { criteria: [met(1), met(1)] }, /verdict 2 is about criterion 1/],
    ["no evidence", { criteria: [met(1), { number: 2, met: true }] }, /evidence/],
    ["empty evidence", { criteria: [met(1), { ...met(2), evidence: "" }] }, /evidence/],
    ["blank evidence", { criteria: [met(1), { ...met(2), evidence: " \n" }] }, /no evidence/],
    ["evidence without end", { criteria: [met(1), { ...met(2), evidence: "x".repeat(EVIDENCE_MAX + 1) }] }, /evidence/],
    ["a member of its own", { criteria: [met(1), met(2)], score: 1 }, /score/],
    ["a finding of no known kind", { criteria: [met(1), met(2)], findings: [{ ...finding, kind: "bad" }] }, /kind/],
    [
      "a finding of no known severity",
      { criteria: [met(1), met(2)], findings: [{ ...finding, severity: "9" }] },
      /sever/,
    ],
    ["a blank finding", { criteria: [met(1), met(2)], findings: [{ ...finding, evidence: "  " }] }, /no evidence/],
  ])("cannot be %s", (_, answer, problem) => {
    const read = readVerdict(answer, asked);
    expect(read).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  });

  test("says what was found where that was asked, if nothing", () => {
    const adversarial = { ...asked, adversarial: true };
    expect(readVerdict({ criteria: [met(1), met(2)] }, adversarial)).toMatchObject({ ok: false });
    expect(readVerdict({ criteria: [met(1), met(2)], findings: [] }, adversarial)).toMatchObject({ ok: true });
  });

  test("that is refused is never quoted", () => {
    const read = readVerdict({ criteria: [met(1), { ...met(2), met: "hunter2" }], hunter: "hunter2" }, asked);
    expect(JSON.stringify(read)).not.toContain("hunter2");
  });
});
