import { describe, expect, test } from "vitest";
import type { Run } from "../protocol/run.ts";
import { branchRule, childOfNode, sourceRun } from "../testing/reopen-rule.ts";

const REFINE = { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } };
const ACCEPT = { action: "accept" };
const refined = { type: "equals", left: "output.decision", right: "refined" } as const;
const STOP = { typeId: "core.approvalGate", config: { actions: ["accept", "refine"], requireBoundVotes: false } };
const GATE = { typeId: "core.approvalGate", config: { requireBoundVotes: false } };
const MARK = { typeId: "test.sets", config: { variables: { approved: true } } };
const PUBLISH = { typeId: "core.identity", inputs: { published: { type: "variable", variableName: "text" } } } as const;
const variables = [
  { name: "text", type: "string", defaultValue: "harmless" },
  { name: "approved", type: "boolean", defaultValue: false },
];
const HARMFUL = { inputs: { text: "a text that is harmful" } };
const effects = ["core.identity"];
const refusedAt = (nodeId: string) => `fork_point_invalid ${nodeId}`;

describe("a gate that was granted in an earlier round, and is asked again in this one", () => {
  const ask = (config: object = {}) => ({
    typeId: "core.clarificationGate",
    config: { questions: [{ id: "next", question: "What next?" }], ...config },
  });
  const next = (right: string) => ({ type: "equals", left: "outputs.answers.next", right }) as const;
  const answer = (text: string) => ({ answers: { next: text } });

  test("refuses the branch where an answer leads past it to what it has let through", async () => {
    const source = sourceRun({
      nodes: { ask: ask(), review: GATE, mark: MARK, publish: PUBLISH },
      edges: [
        { from: "ask", to: "review", condition: next("review") },
        "review>mark",
        "mark>ask",
        {
          from: "ask",
          to: "publish",
          condition: { expression: 'outputs.answers.next == "publish" && variables.approved' },
        },
      ],
      variables,
    });
    source.go().resolve("ask", answer("review")).go().resolve("review", ACCEPT).go();
    expect(source.run.interrupts).toMatchObject({ [source.run.nodes["ask"]?.interruptId ?? ""]: { status: "open" } });
    expect(await branchRule(source, { overlay: HARMFUL })).toBe(refusedAt("review"));
    expect(await branchRule(source, { effects })).toBe(refusedAt("review"));
    expect(await branchRule(source)).toEqual([]);
  });

  test("refuses it where a node beside the gate does not wait for it", async () => {
    const beside = (rule: object) =>
      sourceRun({
        nodes: { start: "core.noop", gate: GATE, mark: MARK, stop: STOP, publish: PUBLISH },
        edges: [
          "start>gate",
          "gate>mark",
          "mark>stop",
          { from: "stop", to: "start", condition: refined },
          { from: "start", to: "publish", ...rule },
        ],
        variables,
      })
        .go()
        .resolve("gate", ACCEPT)
        .go()
        .resolve("stop", REFINE)
        .go();
    const round = ({ story }: { readonly story: readonly string[] }) =>
      story.lastIndexOf("assay.loop.entered:start") + 1;
    const source = beside({ condition: { type: "truthy", left: "approved" } });
    expect(await branchRule(source, { at: round(source), effects })).toBe(refusedAt("gate"));
    expect(await branchRule(source, { at: round(source), overlay: HARMFUL })).toBe(refusedAt("gate"));
    // One that ran before the gate was ever asked waits for nothing that the gate decides.
    const early = beside({});
    expect(await branchRule(early, { at: round(early), effects })).toEqual([]);
  });

  test.each([
    ["any_success", refusedAt("gate")],
    ["all_complete", refusedAt("gate")],
    ["none_failed", []],
  ])("refuses it where what follows need not wait for the gate, or for its approval: %s", async (rule, expected) => {
    const source = sourceRun({
      nodes: { start: "core.noop", gate: GATE, publish: PUBLISH, mark: MARK, stop: STOP },
      edges: [
        "start>gate",
        { from: "gate", to: "publish", triggerRule: rule },
        { from: "start", to: "publish", triggerRule: rule, condition: { type: "truthy", left: "approved" } },
        "gate>mark",
        "publish>stop",
        "mark>stop",
        { from: "stop", to: "start", condition: refined },
      ],
      variables,
    });
    source.go().resolve("gate", ACCEPT).go().resolve("stop", REFINE).go();
    const at = source.story.lastIndexOf("assay.loop.entered:start") + 1;
    expect(await branchRule(source, { at, effects })).toEqual(expected);
  });

  test("refuses it where an answer that is kept leads past the gate", async () => {
    const source = sourceRun({
      nodes: { ask: ask({ approvalHoldsForBranches: true }), review: GATE, act: PUBLISH, stop: STOP },
      edges: [
        { from: "ask", to: "review", condition: next("review") },
        { from: "ask", to: "act", triggerRule: "none_failed" },
        { from: "review", to: "act", triggerRule: "none_failed" },
        "act>stop",
        { from: "stop", to: "ask", condition: refined },
      ],
      variables,
    });
    source.go().resolve("ask", answer("review")).go().resolve("review", ACCEPT).go().resolve("stop", REFINE).go();
    source.resolve("ask", answer("express")).go();
    const at = source.story.lastIndexOf("node.completed:ask") + 1;
    expect(await branchRule(source, { at, effects })).toBe(refusedAt("review"));
  });

  test("refuses it where the gate is in a sub-workflow that need not come to it", async () => {
    const source = sourceRun({
      nodes: { child: { typeId: "core.subWorkflow", config: { workflowId: "below" } }, act: PUBLISH, stop: STOP },
      edges: ["child>act", "act>stop", { from: "stop", to: "child", condition: refined }],
      variables,
    });
    source.go().resolve("stop", REFINE).go();
    const below = (edge: object) => ({
      id: "below",
      nodes: { begin: "core.noop", gate: GATE },
      edges: [{ from: "begin", to: "gate", ...edge }],
      variables,
    });
    const children = (edge: object) => [
      childOfNode("child", sourceRun(below(edge)).go().resolve("gate", ACCEPT).go(), { visit: 0 }),
      childOfNode("child", sourceRun(below(edge), { inputs: { approved: true } }).go(), { visit: 1 }),
    ];
    const overlay = HARMFUL;
    const sometimes = { condition: { type: "falsy", left: "approved" } };
    expect(await branchRule(source, { overlay, effects, children: children(sometimes) })).toBe(refusedAt("child"));
    expect(await branchRule(source, { overlay, effects, children: children({}) })).toEqual(["child"]);
  });
});

describe("a gate that a result leads past", () => {
  const LONG = { type: "expression", expression: "size(variables.text) > 20" } as const;
  const SCORE = { typeId: "core.identity", inputs: { risky: LONG } };
  const risky = { type: "truthy", left: "output.risky" } as const;
  const all = [...variables, { name: "risky", type: "boolean", defaultValue: true }];
  const scored = (more: object = {}, score: unknown = SCORE) =>
    sourceRun({
      nodes: { start: "core.noop", score, gate: GATE, act: "test.sets" },
      edges: [
        "start>score",
        { from: "score", to: "gate", condition: { type: "truthy", left: "outputs.risky" } },
        { from: "score", to: "act", triggerRule: "none_failed" },
        { from: "gate", to: "act", triggerRule: "none_failed" },
      ],
      variables: all,
      ...more,
    }).go();
  const behind = (source: { readonly story: readonly string[] }, event: string) => source.story.lastIndexOf(event) + 1;
  const acts = ["test.sets"];

  test.each(["node.completed:score", "node.skipped:gate"])(
    "refuses a branch with a text that the result was not made for, from after %s",
    async (event) => {
      const source = scored();
      expect(source.run.nodes["gate"]?.status).toBe("skipped");
      const at = behind(source, event);
      expect(await branchRule(source, { at, overlay: HARMFUL, effects: acts })).toBe(refusedAt("gate"));
      expect(await branchRule(source, { at, overlay: HARMFUL })).toBe(refusedAt("gate"));
      expect(await branchRule(source, { at, effects: acts })).toEqual([]);
    },
  );

  test("lets a branch begin before the result, and with options that it does not come from", async () => {
    const source = scored();
    const at = behind(source, "node.completed:start");
    expect(await branchRule(source, { at, overlay: HARMFUL, effects: acts })).toEqual([]);
    const other = scored(
      {},
      { typeId: "core.identity", inputs: { risky: { type: "variable", variableName: "text" } } },
    );
    const overlay = { inputs: { approved: true } };
    expect(await branchRule(other, { at: behind(other, "node.completed:score"), overlay, effects: acts })).toEqual([]);
  });

  test("lets a branch begin where the result that is kept leads to the gate", async () => {
    const source = scored(
      {},
      { typeId: "core.identity", inputs: { risky: { type: "static", value: true }, text: LONG } },
    );
    source.resolve("gate", ACCEPT).go();
    expect(source.run.nodes["act"]?.status).toBe("completed");
    expect(await branchRule(source, { overlay: HARMFUL, effects: acts })).toEqual(["gate"]);
    const at = behind(source, "node.completed:score");
    expect(await branchRule(source, { at, overlay: HARMFUL, effects: acts })).toEqual([]);
  });

  test("refuses one that is given the result in place of what the node has made", async () => {
    const condition = { type: "truthy", left: "risky" };
    const source = scored({
      edges: [
        "start>score",
        { from: "score", to: "gate", condition },
        { from: "score", to: "act", triggerRule: "none_failed" },
        { from: "gate", to: "act", triggerRule: "none_failed" },
      ],
    });
    const overlay = { inputs: { risky: true } };
    const at = behind(source, "node.completed:score");
    expect(await branchRule(source, { at, overlay, effects: acts })).toBe(refusedAt("gate"));
    expect(await branchRule(source, { at: behind(source, "node.completed:start"), overlay, effects: acts })).toEqual(
      [],
    );
  });

  test("refuses one where an effect has a way of its own past the gate, and none where nothing has", async () => {
    const nodes = { start: "core.noop", score: SCORE, gate: GATE, act: "test.sets", quick: "test.sets" };
    const edges = ["start>score", { from: "score", to: "gate", condition: risky }, "gate>act"];
    const quick = { from: "score", to: "quick", condition: { type: "falsy", left: "outputs.risky" } };
    const at = (source: { readonly story: readonly string[] }) => behind(source, "node.completed:score");
    const both = scored({ nodes, edges: [...edges, quick] });
    expect(await branchRule(both, { at: at(both), overlay: HARMFUL, effects: acts })).toBe(refusedAt("gate"));
    const { quick: _, ...fewer } = nodes;
    const one = scored({ nodes: fewer, edges });
    expect(await branchRule(one, { at: at(one), overlay: HARMFUL, effects: acts })).toEqual([]);
  });

  test("refuses one where a node was passed by, for the first text, on the way to the gate", async () => {
    const source = scored({
      nodes: { start: "core.noop", check: "core.noop", gate: GATE, act: "test.sets" },
      edges: [
        { from: "start", to: "check", condition: { expression: "size(variables.text) > 20" } },
        "check>gate",
        { from: "start", to: "act", triggerRule: "none_failed" },
        { from: "gate", to: "act", triggerRule: "none_failed" },
      ],
    });
    const at = behind(source, "node.skipped:check");
    expect(await branchRule(source, { at, overlay: HARMFUL, effects: acts })).toBe(refusedAt("gate"));
  });

  test("refuses one where the gate is in a sub-workflow that is given the result", async () => {
    const below = (condition?: object) =>
      sourceRun({
        id: "below",
        nodes: { begin: "core.noop", gate: GATE },
        edges: [{ from: "begin", to: "gate", ...(condition === undefined ? {} : { condition }) }],
        variables: all,
      });
    const child = { typeId: "core.subWorkflow", config: { workflowId: "below", inputMapping: { risky: "risky" } } };
    const source = sourceRun({
      nodes: { start: "core.noop", score: SCORE, child, act: "test.sets" },
      edges: ["start>score", "score>child", "child>act"],
      variables: all,
    }).go();
    const at = behind(source, "node.completed:score");
    const ask = (plan: ReturnType<typeof below>) =>
      branchRule(source, { at, overlay: HARMFUL, effects: acts, registered: [plan] });
    expect(await ask(below({ type: "truthy", left: "risky" }))).toBe(refusedAt("child"));
    expect(await ask(below())).toEqual([]);
  });
});

describe("a dispatch that has yet to do what its supervisor decided", () => {
  test("refuses a branch with other options, which the supervisor did not see", async () => {
    const source = sourceRun({
      nodes: {
        boss: { typeId: "core.orchestrator.supervisor", config: {} },
        send: "core.dispatch",
        after: "core.noop",
      },
      edges: ["boss>send", "send>after"],
      variables,
    });
    const at = (status: string): { at: number; change: (run: Run) => Run } => ({
      at: 1,
      change: (run) => ({ ...run, nodes: { boss: { status, attempt: 0 } as never } }),
    });
    expect(await branchRule(source, { ...at("completed"), overlay: HARMFUL })).toBe(refusedAt("send"));
    expect(await branchRule(source, { ...at("running"), overlay: HARMFUL })).toEqual([]);
    expect(await branchRule(source, at("completed"))).toEqual([]);
  });
});

describe("a decision that holds for branches", () => {
  test("is asked for again where a condition before it has read a part of what the branch changes", async () => {
    const source = sourceRun({
      nodes: {
        start: "core.noop",
        small: "core.noop",
        gate: { typeId: "core.approvalGate", config: { approvalHoldsForBranches: true } },
        act: "test.sets",
      },
      edges: [
        { from: "start", to: "small", condition: { type: "equals", left: "order.amount", right: 1 } },
        { from: "start", to: "gate", triggerRule: "none_failed" },
        { from: "small", to: "gate", triggerRule: "none_failed" },
        "gate>act",
      ],
      variables: [...variables, { name: "order", type: "object", defaultValue: { amount: 1 } }],
    });
    source.go().resolve("gate", ACCEPT).go();
    const overlay = { inputs: { order: { amount: 1_000_000 } } };
    expect(await branchRule(source, { overlay, effects: ["test.sets"] })).toEqual(["gate"]);
    expect(await branchRule(source, { overlay: HARMFUL, effects: ["test.sets"] })).toEqual([]);
  });
});
