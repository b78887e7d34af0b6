import { expect, test, vi } from "vitest";
import { krippendorffAlpha } from "../../../statistics/agreement.ts";
import { randomFrom } from "../../../testing/random-workflow.ts";
import { agreementOf, type Vote } from "./queue-agreement.ts";

const LABELS = 40;

function someItems(): Vote[][] {
  const random = randomFrom(20_251_118);
  const vote = (reviewer: number): Vote => {
    return { reviewer: `r${reviewer}`, kind: "person", value: `label ${Math.floor(random() ** 2 * LABELS)}` };
  };
  return Array.from({ length: 300 }, () => Array.from({ length: 1 + Math.floor(random() * 4) }, (_, i) => vote(i)));
}

test("the figure of each label is Krippendorff's alpha of that label against all others", () => {
  const items = someItems();
  const units = items.filter((votes) => votes.length > 1).map((votes) => votes.map(({ value }) => value));
  const { byValue } = agreementOf("label", items);
  expect(byValue.length).toBeGreaterThan(LABELS / 2);
  for (const { given, judgments, items: count, value } of byValue) {
    const alone = units.map((unit) => unit.map((one) => one === given));
    expect(value).toBeCloseTo(krippendorffAlpha(alone, "nominal").value ?? Number.NaN, 12);
    expect(judgments).toBe(alone.flat().filter(Boolean).length);
    expect(count).toBe(alone.filter((unit) => unit.includes(true)).length);
  }
});

test("there is no figure of the only label", () => {
  const vote = (reviewer: string): Vote => ({ reviewer, kind: "person", value: "pass" });
  const { byValue } = agreementOf("label", [[vote("a"), vote("b")]]);
  expect(byValue).toEqual([{ given: "pass", judgments: 2, items: 1, value: null, reason: "no_variation" }]);
});

test("the judgments are not gone through once more for each label", async () => {
  const path = "../../../statistics/agreement.ts";
  // Files share their modules: the one under test is loaded anew to meet the spy, and so is all that follows.
  vi.resetModules();
  vi.doMock(path, { spy: true });
  const watched = await import("./queue-agreement.ts");
  const { krippendorffAlpha: spy } = await import("../../../statistics/agreement.ts");
  watched.agreementOf("label", someItems());
  expect(spy).toHaveBeenCalledTimes(1);
  vi.doUnmock(path);
  vi.resetModules();
});
