import { expect, test } from "vitest";
import { NOW, next, nodeStarted, startedRun } from "../../testing/builders.ts";
import { eventText, isLongUnit, writeEvents } from "./prepare-unit.ts";

test("many events are written out in pieces: other work has its turn before the last of them", async () => {
  const begun = startedRun({ tenant: "t" });
  const text = "x".repeat(100_000);
  const drafts = Array.from({ length: 600 }, (_, i) => ({
    type: "variable.changed" as const,
    nodeId: "a",
    payload: { name: `v${i % 3}`, next: text, nodeId: "a" },
  }));
  const { events, run } = next(begun, NOW, nodeStarted(), ...drafts);
  const unit = { tenant: "t", runs: [{ runId: run.runId, expectedVersion: 1, events, run }] };
  let turns = 0;
  const count = () => {
    turns += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const texts = await writeEvents(unit);
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(1);
  expect(isLongUnit(unit)).toBe(true);
  expect(events.every((event) => texts.get(event)?.body === eventText(event).body)).toBe(true);
});
