import { describe, expect, test } from "vitest";
import { openInterrupts } from "../../protocol/runs/run.ts";
import { acted, branchOf, sourceRun } from "../../testing/branches.ts";
import { ANA } from "../../testing/judges.ts";
import type { Simulation } from "../../testing/simulate.ts";
import { cancelRun } from "./decide/end-run.ts";

const ACCEPT = { action: "accept" };
const BEN = { ...ANA, principal: "ben" };
const VARIABLES = [
  { name: "text", type: "string", defaultValue: "harmless" },
  { name: "approved", type: "boolean", defaultValue: false },
];
const gate = (config: object = {}) => ({
  typeId: "core.approvalGate",
  config: { actions: ["accept", "refine"], requireBoundVotes: false, ...config },
});
const MARK = { typeId: "test.sets", config: { variables: { approved: true } } };
const unapproved = { type: "falsy", left: "variables.approved" } as const;
const join = (to: string, ...from: string[]) => from.map((one) => ({ from: one, to, triggerRule: "none_failed" }));
const run = (nodes: object, edges: readonly (string | object)[]): Simulation =>
  sourceRun({ nodes, edges, variables: VARIABLES }).go();
const asks = (one: Simulation) => openInterrupts(one.run).map(({ nodeId }) => nodeId);

/** What a branch does that is not voted in. */
async function branch(source: Simulation, how: Parameters<typeof branchOf>[1] = {}): Promise<Simulation> {
  const begun = await branchOf(source, how);
  if (begun === undefined) throw new Error("the run has ended there");
  return begun.go();
}

/** A node notes an approval that was not given, and is decided about together with the gate. */
const notesEarly = () =>
  run({ start: "core.noop", mark: MARK, gate: gate(), act: "test.acts" }, [
    "start>mark",
    { from: "start", to: "gate", condition: unapproved },
    ...join("act", "start", "gate"),
  ]);

describe("a branch of a branch", () => {
  test("keeps what the first source had decided, from every point before the first branch began", async () => {
    const source = notesEarly();
    for (let at = 1; at <= source.events.length; at++) {
      const first = await branch(source, { at });
      for (let point = 1; point <= first.events.length; point++) {
        const second = await branch(first, { at: point });
        expect(asks(second), `from ${point} of the branch from ${at}`).toEqual(["gate"]);
        expect(acted(second, point)).toEqual([]);
      }
    }
  });

  test("begins anew where the branch before it went back, and the log does not tell what was decided", async () => {
    const source = notesEarly();
    const at = source.story.indexOf("node.completed:mark") + 1;
    const first = await branch(source, { at, overlay: { inputs: { text: "another" } } });
    for (let point = 1; point <= at; point++) {
      const second = await branch(first, { at: point });
      expect(asks(second), `from ${point}`).toEqual(["gate"]);
      expect(acted(second, point)).toEqual([]);
    }
  });

  test("passes no gate with votes that the first branch made void", async () => {
    const strict = gate({ approvalHoldsForBranches: true, forbidSelfApproval: true });
    const source = run({ first: gate(), second: strict, act: "test.acts" }, ["first>second", "second>act"]);
    source.resolve("first", ACCEPT, BEN).go().resolve("second", ACCEPT, ANA).go();
    const asksAgain = await branch(source, { at: source.events.length - 1, by: "p2" });
    expect(asks(asksAgain)).toEqual(["first"]);
    // The decision at the second gate does not hold for a branch of the principal that made it.
    expect(asks(await branch(asksAgain, { by: ANA.principal }))).toEqual(["first"]);
  });
});

test("a branch keeps what was decided together with an effect whose inputs are not there", async () => {
  const notify = { typeId: "test.acts", inputs: { to: { type: "variable", variableName: "missing" } } };
  const source = run({ start: "core.noop", mark: MARK, notify, gate: gate(), sorry: "core.noop", act: "test.acts" }, [
    "start>mark",
    "start>notify",
    { from: "notify", to: "sorry", triggerRule: "any_failed" },
    { from: "start", to: "gate", condition: unapproved },
    ...join("act", "start", "gate"),
  ]);
  for (let at = 1; at <= source.events.length; at++) {
    const begun = await branch(source, { at });
    expect(asks(begun), `from ${at}`).toEqual(["gate"]);
    expect(acted(begun, at)).not.toContain("act");
  }
});

describe("a branch from right before the end of its source", () => {
  test("ends as well where a failure that no edge expects had ended it", async () => {
    const check = { typeId: "core.fail", config: { code: "policy", message: "It must not be published." } };
    const source = run({ start: "core.noop", check, prepare: "core.noop", act: "test.acts", ask: gate() }, [
      "start>check",
      "start>prepare",
      "prepare>act",
      "act>ask",
    ]);
    expect(source.story.slice(-2)).toEqual(["node.failed:check", "run.failed"]);
    const at = source.events.length - 1;
    const begun = await branch(source, { at });
    expect(begun.run).toMatchObject({ status: "failed", error: { code: "policy" } });
    expect(acted(begun, at)).toEqual([]);
  });

  test("ends as well where a gate asked for changes and no edge expects that", async () => {
    const refine = { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } };
    const source = run({ gate: gate(), after: "core.noop", other: gate() }, ["gate>after"]);
    source.resolve("gate", refine).go();
    expect(source.story.slice(-3)).toEqual(["node.completed:gate", "node.cancelled:other", "run.failed"]);
    const begun = await branch(source, { at: source.events.length - 2 });
    expect(begun.run.status).toBe("failed");
    expect(asks(begun)).toEqual([]);
  });

  test("asks at the gate that was cancelled with it", async () => {
    const source = run({ start: "core.noop", gate: gate(), other: gate(), act: "test.acts" }, [
      "start>gate",
      "start>other",
      { from: "gate", to: "act", triggerRule: "all_complete" },
    ]);
    source.decide((one) => cancelRun(one, { by: "p1" }));
    expect(source.story.slice(-3)).toEqual(["node.cancelled:gate", "node.cancelled:other", "run.cancelled"]);
    for (const at of [source.events.length - 2, source.events.length - 1]) {
      const begun = await branch(source, { at });
      expect(asks(begun)).toEqual(["gate", "other"]);
      expect(acted(begun, at)).toEqual([]);
    }
  });
});
