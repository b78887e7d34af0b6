import { describe, expect, test } from "vitest";
import { branchRule, childOfNode, sourceRun } from "../testing/reopen-rule.ts";

const ACCEPT = { action: "accept" };
const GATE = { typeId: "core.approvalGate", config: { requireBoundVotes: false } };
const MARK = { typeId: "test.sets", config: { variables: { approved: true } } };
const reading = (variableName: string) => ({ type: "variable", variableName }) as const;
const PUBLISH = { typeId: "core.identity", inputs: { published: reading("text") } };
const HARMFUL = { inputs: { text: "a text that is harmful" } };
const variables = ["text", "document", "risk"].map((name) => ({ name, type: "string", defaultValue: "harmless" }));
const all = [...variables, { name: "approved", type: "boolean", defaultValue: false }];
const unapproved = { type: "falsy", left: "approved" } as const;
const refusedAt = (nodeId: string) => `fork_point_invalid ${nodeId}`;
const behind = (source: { readonly story: readonly string[] }, event: string) => source.story.lastIndexOf(event) + 1;
const join = (...sources: string[]) => sources.map((from) => ({ from, to: "act", triggerRule: "none_failed" }));

describe("a variable that was written since a gate asked", () => {
  const marked = (more: object = {}) =>
    sourceRun({
      nodes: { start: "core.noop", gate: GATE, mark: MARK, act: PUBLISH },
      edges: [
        { from: "start", to: "gate", condition: unapproved },
        { from: "start", to: "mark", triggerRule: "none_failed" },
        { from: "gate", to: "mark", triggerRule: "none_failed" },
        "mark>act",
      ],
      variables: all,
      ...more,
    }).go();

  test.each(["variable.changed:mark", "node.completed:mark", "node.completed:act"])(
    "leads past no gate that asks again, from after %s",
    async (event) => {
      const source = marked().resolve("gate", ACCEPT).go();
      const at = behind(source, event);
      expect(at).toBeGreaterThan(0);
      expect(await branchRule(source, { at, overlay: HARMFUL })).toBe(refusedAt("gate"));
      expect(await branchRule(source, { at, effects: ["core.identity"] })).toBe(refusedAt("gate"));
      expect(await branchRule(source, { at })).toEqual([]);
    },
  );

  test("lets a branch begin before it is written", async () => {
    const source = marked().resolve("gate", ACCEPT).go();
    const at = behind(source, "node.completed:gate");
    expect(await branchRule(source, { at, overlay: HARMFUL })).toEqual(["gate"]);
  });

  test("leads past no gate that is still open, where a node beside the gate has written it", async () => {
    const source = marked({
      nodes: { start: "core.noop", gate: GATE, mark: MARK, act: PUBLISH },
      edges: ["start>mark", { from: "start", to: "gate", condition: unapproved }, ...join("start", "gate")],
    });
    expect(source.run.nodes["gate"]?.status).toBe("suspended");
    expect(source.run.variables["approved"]).toBe(true);
    expect(await branchRule(source, { effects: ["core.identity"] })).toBe(refusedAt("gate"));
  });

  test("leads to no effect that need not wait for a gate which asks for certain", async () => {
    const source = marked({
      edges: [
        "start>gate",
        "gate>mark",
        { from: "start", to: "act", triggerRule: "any_success", condition: { type: "truthy", left: "approved" } },
        { from: "mark", to: "act", triggerRule: "any_success" },
      ],
    });
    source.resolve("gate", ACCEPT).go();
    expect(await branchRule(source, { effects: ["core.identity"] })).toBe(refusedAt("gate"));
  });

  test("leads past no gate in a sub-workflow that is given it", async () => {
    const below = sourceRun({
      id: "below",
      nodes: { begin: "core.noop", gate: GATE },
      edges: [{ from: "begin", to: "gate", condition: unapproved }],
      variables: all,
    });
    const asked = below.go().resolve("gate", ACCEPT).go();
    const child = {
      typeId: "core.subWorkflow",
      config: { workflowId: "below", inputMapping: { approved: "approved" } },
    };
    const source = marked({ nodes: { child, mark: MARK, act: PUBLISH }, edges: ["child>mark", "mark>act"] });
    const children = [childOfNode("child", asked, { inputs: { approved: false } })];
    expect(await branchRule(source, { children, effects: ["core.identity"] })).toBe(refusedAt("child"));
  });

  test("is given to no worker that asked before, from within its round", async () => {
    const below = sourceRun({ id: "below", nodes: { gate: GATE, act: PUBLISH }, edges: ["gate>act"], variables: all });
    const asked = below.go().resolve("gate", ACCEPT).go();
    const inputMapping = { approved: "approved" };
    const workers = (config: object) =>
      marked({
        nodes: { start: "core.noop", workers: { typeId: "core.dispatch", config }, mark: MARK },
        edges: ["start>workers", "workers>mark"],
      });
    const ask = (config: object) =>
      branchRule(workers(config), { children: [childOfNode("workers", asked)], effects: ["core.identity"] });
    expect(await ask({ inputMapping })).toBe(refusedAt("workers"));
    expect(await ask({})).toEqual(["workers"]);
  });

  test("is no obstacle where no condition reads it, or a node that runs before the gate in any case writes it anew", async () => {
    const long = { expression: "size(variables.text) > 3 && variables[\"risk\"] != 'none'" };
    const unread = marked({
      edges: [{ from: "start", to: "gate", condition: long }, "gate>mark", "mark>act"],
    });
    unread.resolve("gate", ACCEPT).go();
    expect(await branchRule(unread, { overlay: HARMFUL })).toEqual(["gate"]);
    const nodes = { gate: GATE, mark: MARK, second: GATE, act: PUBLISH };
    const second = { from: "mark", to: "second", condition: { type: "truthy", left: "variables.approved" } };
    const anew = marked({ nodes, edges: ["gate>mark", second, ...join("mark", "second")] });
    anew.resolve("gate", ACCEPT).go().resolve("second", ACCEPT).go();
    expect(await branchRule(anew, { overlay: HARMFUL })).toEqual(["gate", "second"]);
  });

  test("counts where the name that a condition reads is computed", async () => {
    const source = marked({
      edges: [
        { from: "start", to: "gate", condition: { expression: "!variables['appro' + 'ved']" } },
        { from: "start", to: "mark", triggerRule: "none_failed" },
        { from: "gate", to: "mark", triggerRule: "none_failed" },
        "mark>act",
      ],
    });
    source.resolve("gate", ACCEPT).go();
    expect(await branchRule(source, { effects: ["core.identity"] })).toBe(refusedAt("gate"));
  });
});

describe("a variable that a node has written before a gate", () => {
  test("leads past no gate with a value of the branch, also where an edge carries the result to it", async () => {
    const source = sourceRun({
      nodes: {
        score: { typeId: "core.identity", inputs: { level: reading("text") } },
        set: "core.identity",
        gate: GATE,
        act: PUBLISH,
      },
      edges: [
        { from: "score", to: "set", sourceOutput: "level", targetInput: "risk" },
        { from: "set", to: "gate", condition: { type: "equals", left: "risk", right: "harmless" } },
        ...join("set", "gate"),
      ],
      variables,
    }).go();
    const at = behind(source, "node.completed:set");
    expect(await branchRule(source, { at, overlay: { inputs: { risk: "low" } } })).toBe(refusedAt("gate"));
    const before = behind(source, "node.completed:score");
    expect(await branchRule(source, { at: before, overlay: { inputs: { risk: "low" } } })).toEqual([]);
  });

  test("is asked about again in place of what a gate that holds for branches has shown", async () => {
    const render = { typeId: "core.identity", inputs: { document: reading("text") } };
    const shown = { artifact: { type: "connection", nodeId: "render", outputKey: "document" } };
    const gate = { ...GATE, config: { ...GATE.config, approvalHoldsForBranches: true }, inputs: shown };
    const source = sourceRun({ nodes: { render, gate, act: PUBLISH }, edges: ["render>gate", "gate>act"], variables });
    source.go().resolve("gate", ACCEPT).go();
    expect(await branchRule(source, { overlay: { inputs: { document: "harmful" } } })).toEqual(["gate"]);
    expect(await branchRule(source, { overlay: { inputs: { risk: "other" } } })).toEqual([]);
  });
});

describe("a result that is kept", () => {
  test("leads to no effect past a gate that asks for certain, where the effect need not wait for it", async () => {
    const long = { type: "expression", expression: "size(variables.text) > 20" } as const;
    const quick = (triggerRule: string) => ({
      from: "score",
      to: "act",
      triggerRule,
      condition: { type: "falsy", left: "output.long" },
    });
    const scored = (triggerRule: string) =>
      sourceRun({
        nodes: { score: { typeId: "core.identity", inputs: { long } }, gate: GATE, act: PUBLISH },
        edges: ["score>gate", quick(triggerRule), { from: "gate", to: "act", triggerRule }],
        variables,
      }).go();
    const ask = (source: ReturnType<typeof scored>) =>
      branchRule(source, { at: behind(source, "node.completed:score"), overlay: HARMFUL });
    expect(await ask(scored("any_success"))).toBe(refusedAt("gate"));
    expect(await ask(scored("none_failed"))).toEqual([]);
  });

  test.each(["the workflow", "a sub-workflow"])("of an event that %s waited for leads past no gate", async (where) => {
    const data = { eventType: "scored", correlation: { order: 7 } };
    const wait = { typeId: "core.interrupt", config: { kind: "external-event", data } };
    const below = sourceRun({ id: "below", nodes: { wait } });
    const score = where === "the workflow" ? wait : { typeId: "core.subWorkflow", config: { workflowId: "below" } };
    const source = sourceRun({
      nodes: { score, gate: GATE, act: PUBLISH },
      edges: [
        { from: "score", to: "gate", condition: { type: "truthy", left: "outputs.risky" } },
        ...join("score", "gate"),
      ],
      variables,
    }).go();
    if (where === "the workflow") source.resolve("score", { order: 7, risky: false }).go();
    expect(source.run.nodes["gate"]?.status).toBe("skipped");
    expect(await branchRule(source, { overlay: HARMFUL, registered: [below] })).toBe("fork_point_invalid gate");
    expect(await branchRule(source, { registered: [below] })).toEqual([]);
  });
});
