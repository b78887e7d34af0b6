import { expect, test } from "vitest";
import { sourceRun } from "../../testing/branches.ts";
import { evolve, fold, type Run } from "../runs/run.ts";

test("a fold comes to what its events come to one by one, and leaves the run it goes on from as it was", () => {
  const sets = (variables: object) => ({ typeId: "test.sets", config: { variables } });
  const variables = ["a", "b"].map((name) => ({ name, type: "string", defaultValue: "first" }));
  const nodes = { one: sets({ a: "second", b: "second" }), two: sets({ b: "third", a: "third" }) };
  const { events } = sourceRun({ nodes, edges: ["one>two"], variables }).go();
  let run: Run | undefined;
  for (const [at, event] of events.entries()) {
    const before = JSON.stringify(run);
    expect(JSON.stringify(fold(events.slice(at), run))).toBe(JSON.stringify(fold(events)));
    expect(JSON.stringify(run)).toBe(before);
    run = evolve(run, event);
    expect(JSON.stringify(fold(events.slice(0, at + 1)))).toBe(JSON.stringify(run));
  }
});
