import { describe, expect, test } from "vitest";
import { NOW, newId, next, nodeCompleted, nodeStarted, startedRun } from "../../testing/builders.ts";
import {
  accessDenied,
  gateAsked,
  interruptRequested,
  interruptResolved,
  openGate,
  runCancelled,
  voteRecorded,
} from "../../testing/gate-builders.ts";
import { changedRows, startersIn, startersText } from "./interrupt-rows.ts";

const NOTHING = { interrupts: [], voted: [] };

/** A run with two open interrupts, of which the first is asked about. */
function twoGates() {
  const first = openGate({ tenant: "t1" });
  const second = newId("int", NOW + 1);
  const both = next(first, NOW, interruptRequested(first.run.runId, second, { nodeId: "other" }));
  return { both, first: first.interruptId, second };
}

describe("a write to a run", () => {
  test("without interrupts changes no row of theirs", () => {
    expect(changedRows(next(startedRun({ tenant: "t1" }), NOW, nodeStarted(), nodeCompleted()))).toEqual(NOTHING);
  });

  test("with interrupts changes none that its events are not about", () => {
    const { both, first } = twoGates();
    expect(changedRows(next(both, NOW, nodeStarted(), nodeCompleted()))).toEqual(NOTHING);
    for (const draft of [gateAsked(first), accessDenied(first), interruptResolved(first)]) {
      const { interrupts, voted } = changedRows(next(both, NOW, draft));
      expect(interrupts.map((row) => row.interrupt_id)).toEqual([first]);
      expect(voted).toEqual([]);
    }
  });

  test("with a vote replaces the votes of that interrupt, all of them", () => {
    const { both, first } = twoGates();
    const voted = next(both, NOW, voteRecorded(first, "ada"));
    const rows = changedRows(next(voted, NOW, voteRecorded(first, "bob")));
    expect(rows.interrupts).toHaveLength(1);
    expect(rows.voted).toMatchObject([{ interruptId: first, votes: [{ voter: "ada" }, { voter: "bob" }] }]);
  });

  test("that ends the run changes those that were still open", () => {
    const { both, first, second } = twoGates();
    const resolved = next(both, NOW, interruptResolved(first));
    const { interrupts } = changedRows(next(resolved, NOW, runCancelled()));
    expect(interrupts).toMatchObject([{ interrupt_id: second, status: "cancelled" }]);
  });

  test("about an interrupt that was never raised changes nothing", () => {
    const { both } = twoGates();
    expect(changedRows(next(both, NOW, accessDenied("int-unknown"), accessDenied("__proto__")))).toEqual(NOTHING);
  });
});

test.each([[["ada"]], [["ada", "eve"]], [["[odd"]], [['["ada"]']], [[]]])(
  "starters are read as they were written: %j",
  (names) => {
    expect(startersIn(startersText(names))).toEqual(names);
  },
);

test("one name is stored as it is, as by earlier versions", () => {
  expect(startersText(["ada"])).toBe("ada");
  expect(startersIn("[not json")).toEqual(["[not json"]);
  expect(startersIn("[1]")).toEqual(["[1]"]);
  expect(startersIn(null)).toEqual([]);
});
