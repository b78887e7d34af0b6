import { expect, test } from "vitest";
import { sourceRun } from "../../../testing/branches.ts";
import { firedBefore } from "./go-back.ts";

test("what was to begin is found out with a bounded number of evaluations, and not at all where it takes more", () => {
  const chain = Array.from({ length: 300 }, (_, i) => `step${i}`);
  const late = ["a", "b", "c", "d"];
  const source = sourceRun({
    nodes: Object.fromEntries([...chain, ...late, "act"].map((id) => [id, "core.noop"])),
    edges: [
      ...chain.slice(1).map((id, i) => `${chain[i]}>${id}`),
      ...late.map((to) => ({
        from: chain[0],
        to,
        triggerRule: "any_success",
        condition: { type: "truthy", left: "no" },
      })),
      ...late.map((to) => ({
        from: chain.at(-1),
        to,
        triggerRule: "any_success",
        condition: { type: "truthy", left: "no" },
      })),
      `${chain[0]}>act`,
    ],
  }).go();
  const history = source.events.slice(0, source.story.indexOf(`node.started:${chain.at(-1)}`));
  const found = (ids: readonly string[]) => {
    const steps = firedBefore(source.plan, history, ids);
    let next = steps.next();
    while (!next.done) next = steps.next();
    return next.value;
  };
  expect(found(late.slice(0, 1))).toEqual([]);
  expect(found(["act"])).toEqual(["act"]);
  expect(found(late)).toBeUndefined();
});
