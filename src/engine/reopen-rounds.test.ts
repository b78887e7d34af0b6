import { describe, expect, test } from "vitest";
import type { Run } from "../protocol/run.ts";
import { branchRule, childOfNode, sourceRun } from "../testing/reopen-rule.ts";

const REFINE = { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } };
const ACCEPT = { action: "accept" };
const refined = { type: "equals", left: "output.decision", right: "refined" } as const;
const granted = { type: "equals", left: "output.decision", right: "granted" } as const;
const STOP = { typeId: "core.approvalGate", config: { actions: ["accept", "refine"], requireBoundVotes: false } };
const refusedAt = (nodeId: string) => `fork_point_invalid ${nodeId}`;

describe("a gate that a loop passes by in its second round", () => {
  /** `gate` is asked in the first round only: `act` sets the variable that its edge reads. */
  const once = (condition: object, more: object = {}) => {
    const source = sourceRun({
      nodes: { start: { typeId: "core.identity", inputs: FROM_DONE }, gate: "core.approvalGate", act: ACT, stop: STOP },
      edges: [
        { from: "start", to: "gate", condition },
        { from: "start", to: "act", triggerRule: "none_failed" },
        { from: "gate", to: "act", triggerRule: "none_failed" },
        "act>stop",
        { from: "stop", to: "start", condition: refined },
      ],
      variables: [
        { name: "done", type: "boolean", defaultValue: false },
        { name: "text", type: "string", defaultValue: "harmless" },
      ],
      ...more,
    });
    return source.go().resolve("gate", ACCEPT).go().resolve("stop", REFINE).go();
  };
  const FROM_DONE = { done: { type: "variable", variableName: "done" } } as const;
  const ACT = { typeId: "test.sets", config: { variables: { done: true } } };
  const byVariable = { type: "falsy", left: "variables.done" };

  test.each([
    ["after it was passed by", "node.skipped:gate", 1],
    ["before the round has come to it", "node.skipped:gate", 0],
    ["as soon as the round begins", "assay.loop.entered:start", 1],
  ])("refuses a branch from %s", async (_, event, after) => {
    const source = once(byVariable);
    const at = source.story.lastIndexOf(event) + after;
    for (const overlay of [{}, { inputs: { text: "harmful" } }]) {
      expect(await branchRule(source, { at, overlay, effects: ["test.sets"] })).toBe(refusedAt("gate"));
    }
    expect(await branchRule(source, { at, overlay: { inputs: { text: "harmful" } } })).toBe(refusedAt("gate"));
  });

  test.each([
    ["a variable named alone", { type: "falsy", left: "done" }],
    ["an expression", { expression: "variables.done == false" }],
    ["the output of a node that copies a variable", { type: "falsy", left: "output.done" }],
  ])("refuses it too where the condition reads %s", async (_, condition) => {
    const source = once(condition);
    const at = source.story.lastIndexOf("assay.loop.entered:start") + 1;
    expect(await branchRule(source, { at, effects: ["test.sets"] })).toBe(refusedAt("gate"));
  });

  test("refuses it too where a node on the way to the gate was passed by, and the gate not yet", async () => {
    const source = once(byVariable, {
      nodes: { start: "core.noop", check: "core.noop", gate: "core.approvalGate", act: ACT, stop: STOP },
      edges: [
        { from: "start", to: "check", condition: byVariable },
        "check>gate",
        { from: "start", to: "act", triggerRule: "none_failed" },
        { from: "gate", to: "act", triggerRule: "none_failed" },
        "act>stop",
        { from: "stop", to: "start", condition: refined },
      ],
    });
    const at = source.story.lastIndexOf("node.skipped:check") + 1;
    expect(await branchRule(source, { at, effects: ["test.sets"] })).toBe(refusedAt("gate"));
  });

  test("lets a branch begin where nothing changed and no effect follows, and before the decision", async () => {
    const source = once(byVariable);
    const at = source.story.lastIndexOf("assay.loop.entered:start") + 1;
    expect(await branchRule(source, { at })).toEqual([]);
    const first = source.story.indexOf("interrupt.requested:gate") + 1;
    expect(await branchRule(source, { at: first, effects: ["test.sets"] })).toEqual([]);
  });

  test("counts no decision that was asked for again in the branch that the run is", async () => {
    const source = once(byVariable);
    const at = source.story.lastIndexOf("assay.loop.entered:start") + 1;
    const change = (run: Run): Run => ({
      ...run,
      interrupts: Object.fromEntries(Object.entries(run.interrupts).map(([id, one]) => [id, { ...one, reopened: [] }])),
    });
    expect(await branchRule(source, { at, effects: ["test.sets"], change })).toEqual([]);
  });
});

describe("a gate that every round comes to", () => {
  const rounds = () =>
    sourceRun({
      nodes: { draft: "core.noop", first: STOP, second: STOP, act: "test.sets" },
      edges: [
        "draft>first",
        { from: "first", to: "draft", condition: refined },
        { from: "first", to: "second", condition: granted },
        { from: "second", to: "draft", condition: refined },
        { from: "second", to: "act", condition: granted },
      ],
    });

  test("lets a branch begin in any round: the gate asks in this round, and what a gate before it decides is new", async () => {
    const source = rounds().go().resolve("first", ACCEPT).go().resolve("second", REFINE).go();
    const at = source.story.lastIndexOf("assay.loop.entered:draft") + 1;
    expect(await branchRule(source, { at, effects: ["test.sets"] })).toEqual([]);
    expect(await branchRule(source, { effects: ["test.sets"] })).toEqual([]);
    source.resolve("first", ACCEPT).go();
    expect(await branchRule(source, { effects: ["test.sets"] })).toEqual(["first"]);
    source.resolve("second", ACCEPT).go();
    expect(await branchRule(source, { effects: ["test.sets"] })).toEqual(["first", "second"]);
    expect(await branchRule(source)).toEqual([]);
  });
});

describe("a gate that was decided in each of two rounds", () => {
  /** `second` is asked where `skip` is not set. */
  const twice = (first: object = {}, rule?: string) => {
    const source = sourceRun({
      nodes: {
        draft: "core.noop",
        first: { typeId: "core.approvalGate", config: { requireBoundVotes: false, ...first } },
        second: { typeId: "core.approvalGate", config: { requireBoundVotes: false, approvalHoldsForBranches: true } },
        stop: STOP,
        act: "test.sets",
      },
      edges: [
        "draft>first",
        { from: "first", to: "second", condition: { type: "falsy", left: "skip" } },
        { from: "second", to: "stop", triggerRule: rule ?? "all_success" },
        { from: "first", to: "stop", triggerRule: rule ?? "all_success" },
        { from: "stop", to: "draft", condition: refined },
        { from: "stop", to: "act", condition: granted },
      ],
    });
    for (const answer of [REFINE, ACCEPT]) {
      source.go().resolve("first", ACCEPT).go().resolve("second", ACCEPT).go().resolve("stop", answer);
    }
    return source.go();
  };
  const effects = ["test.sets"];
  const beforeStop = ({ story }: { readonly story: readonly string[] }) => story.lastIndexOf("node.started:stop");

  test("takes the place of the earlier one where it is kept", async () => {
    const source = twice({ approvalHoldsForBranches: true });
    expect(await branchRule(source, { at: beforeStop(source), effects })).toEqual([]);
  });

  test("refuses the branch where a gate before it asks again, and may then lead past it", async () => {
    const source = twice();
    expect(await branchRule(source, { at: beforeStop(source), effects })).toBe(refusedAt("second"));
  });

  test.each([
    ["none_failed", []],
    ["any_success", []],
    ["all_complete", []],
    ["all_success", refusedAt("second")],
    ["any_failed", refusedAt("second")],
  ])("is certain to be asked by %s where one way to it is, or every way has to be", async (rule, expected) => {
    const ways = (way: object) => ({
      nodes: { draft: "core.noop", check: "core.noop", second: STOP, act: "test.sets" },
      edges: [
        { from: "draft", to: "check", ...way },
        { from: "check", to: "second", triggerRule: rule },
        { from: "draft", to: "second", triggerRule: rule },
        { from: "second", to: "draft", condition: refined },
        { from: "second", to: "act", condition: granted },
      ],
    });
    const plain = ways({});
    const edges = plain.edges.map((edge) => ({ ...edge, triggerRule: undefined }));
    const source = sourceRun(JSON.parse(JSON.stringify({ ...plain, edges })))
      .go()
      .resolve("second", REFINE)
      .go();
    const { plan } = sourceRun(ways({ condition: { type: "falsy", left: "skip" } }));
    const at = source.story.lastIndexOf("assay.loop.entered:draft") + 1;
    expect(await branchRule({ ...source, plan, events: source.events }, { at, effects })).toEqual(expected);
  });
});

describe("a wait for an event in an earlier round", () => {
  test("refuses nothing", async () => {
    const wait = {
      typeId: "core.interrupt",
      config: { kind: "external-event", data: { eventType: "paid", correlation: { id: 7 } } },
    };
    const source = sourceRun({
      nodes: {
        start: "core.noop",
        wait,
        act: { typeId: "test.sets", config: { variables: { done: true } } },
        stop: STOP,
      },
      edges: [
        { from: "start", to: "wait", condition: { type: "falsy", left: "done" } },
        { from: "start", to: "act", triggerRule: "none_failed" },
        { from: "wait", to: "act", triggerRule: "none_failed" },
        "act>stop",
        { from: "stop", to: "start", condition: refined },
      ],
      variables: [{ name: "done", type: "boolean", defaultValue: false }],
    });
    source.go().resolve("wait", { id: 7 }).go().resolve("stop", REFINE).go();
    expect(source.run.nodes["wait"]?.status).toBe("skipped");
    expect(await branchRule(source, { effects: ["test.sets"] })).toEqual([]);
  });
});

describe("runs that a node dispatched in several rounds", () => {
  const looped = (typeId: string, config: object = {}) =>
    sourceRun({
      nodes: { child: { typeId, config } as never, stop: STOP, act: "test.sets" },
      edges: [
        "child>stop",
        { from: "stop", to: "child", condition: refined },
        { from: "stop", to: "act", condition: granted },
      ],
    })
      .go()
      .resolve("stop", REFINE)
      .go();
  const SUB = ["core.subWorkflow", { workflowId: "below" }] as const;
  const effects = ["test.sets"];
  const gated = () =>
    sourceRun({ id: "below", nodes: { gate: "core.approvalGate" } })
      .go()
      .resolve("gate", ACCEPT)
      .go();
  const quiet = () => sourceRun({ id: "below", nodes: { only: "core.noop" } }).go();

  test("start over for a gate of this round, which asks for those before it as well", async () => {
    const children = [childOfNode("child", gated(), { visit: 0 }), childOfNode("child", gated(), { visit: 1 })];
    expect(await branchRule(looped(...SUB), { effects, children })).toEqual(["child"]);
    expect(await branchRule(looped(...SUB), { children })).toEqual([]);
  });

  test("refuse the branch for a gate of an earlier round, where this round's run has none", async () => {
    const children = [childOfNode("child", gated(), { visit: 0 }), childOfNode("child", quiet(), { visit: 1 })];
    expect(await branchRule(looped(...SUB), { effects, children })).toBe(refusedAt("child"));
    expect(await branchRule(looped(...SUB), { children })).toEqual([]);
  });

  test("refuse it always for workers of an earlier round: a dispatch hands out those of its last", async () => {
    const children = [childOfNode("child", gated(), { visit: 0 }), childOfNode("child", gated(), { visit: 1 })];
    const source = looped("core.dispatch");
    expect(await branchRule(source, { effects, children })).toBe(refusedAt("child"));
    expect(await branchRule(source, { effects, children: children.slice(1) })).toEqual(["child"]);
    const begins = source.story.lastIndexOf("assay.loop.entered:child") + 1;
    expect(await branchRule(source, { at: begins, effects, children: children.slice(0, 1) })).toBe(refusedAt("child"));
  });

  test("do not count where the node does not wait for them", async () => {
    const children = [
      childOfNode("child", gated(), { visit: 0, waits: false }),
      childOfNode("child", gated(), { visit: 1, waits: false }),
    ];
    expect(await branchRule(looped(...SUB), { effects, children })).toEqual([]);
  });
});
