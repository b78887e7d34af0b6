import { describe, expect, test } from "vitest";
import type { Run } from "../protocol/run.ts";
import { ANA, BEN, somebody } from "../testing/judges.ts";
import { branchRule, childOfNode, sourceRun } from "../testing/reopen-rule.ts";
import type { Simulation } from "../testing/simulate.ts";
import { pauseRun } from "./decide/pause-run.ts";
import { resumeRun } from "./decide/resume-run.ts";

const ACCEPT = { action: "accept" };
const effects = ["test.sets"];
const holds = { approvalHoldsForBranches: true };
const shows = (variableName: string) => ({ artifact: { type: "variable", variableName } });
const variables = [
  { name: "text", type: "string", defaultValue: "harmless" },
  { name: "amount", type: "number", defaultValue: 1 },
  { name: "order", type: "object", defaultValue: { id: 7 } },
];
const OTHER_TEXT = { inputs: { text: "harmful" } };
const OTHER_AMOUNT = { inputs: { amount: 2 } };

/** first → gate → act, with the gate accepted and all of it done. */
function decided(gate: object, first: unknown = "core.noop", value: unknown = ACCEPT, by = ANA): Simulation {
  const nodes = { first, gate: { typeId: "core.approvalGate", inputs: shows("text"), ...gate }, act: "test.sets" };
  const source = sourceRun({ nodes, edges: ["first>gate", "gate>act"], variables }).go();
  return source.resolve("gate", value, by).go();
}

describe("a decision before the fork point", () => {
  test.each<[string, object, string[], string[]]>([
    ["is kept where nothing changed and no effect follows", {}, [], []],
    ["is kept for labels, which decide nothing", { tags: ["x"], metadata: { a: 1 } }, [], []],
    ["is kept for inputs that are equal", { inputs: { text: "harmless" } }, [], []],
    ["is asked for again for other inputs", OTHER_AMOUNT, [], ["gate"]],
    ["is asked for again for other options", { configurable: { colour: "blue" } }, [], ["gate"]],
    ["is asked for again before an effect", {}, effects, ["gate"]],
    ["is kept after an effect that nothing follows", {}, ["core.noop"], []],
  ])("%s", async (_, overlay, acting, expected) => {
    expect(await branchRule(decided({}), { overlay, effects: acting })).toEqual(expected);
  });

  test("is asked for again when its interrupt cannot be found", async () => {
    const change = (run: Run): Run => ({ ...run, interrupts: {} });
    expect(await branchRule(decided({}), { change })).toEqual(["gate"]);
  });

  test("is found where a pause came between the answer and the end of its node", async () => {
    const nodes = { gate: "core.approvalGate", act: "test.sets" };
    const source = sourceRun({ nodes, edges: ["gate>act"] })
      .go()
      .resolve("gate", ACCEPT);
    source.decide((run) => pauseRun(run, { by: "ada", drainPolicy: "immediate" })).go();
    source.decide((run) => resumeRun(run, { by: "ada" })).go();
    expect(source.run.nodes["gate"]).not.toHaveProperty("interruptId");
    expect(await branchRule(source, { effects })).toEqual(["gate"]);
    expect(await branchRule(source)).toEqual([]);
  });
});

describe("a decision that holds for branches", () => {
  test.each([
    ["is kept before an effect", {}, []],
    ["is kept for inputs that are not shown", OTHER_AMOUNT, []],
    ["is asked for again for inputs that are shown", OTHER_TEXT, ["gate"]],
  ])("%s", async (_, overlay, expected) => {
    expect(await branchRule(decided({ config: holds }), { overlay, effects })).toEqual(expected);
  });

  test("holds for true alone, and not for a word that looks like it", async () => {
    const source = decided({ config: { approvalHoldsForBranches: "true" } });
    expect(await branchRule(source, { effects })).toEqual(["gate"]);
  });

  test.each(["artifactId", "gateId"])("is asked for again where inputs choose another %s", async (name) => {
    const config = { ...holds, kind: "approval", data: name === "gateId" ? { requiredRole: "reviewer" } : {} };
    const gate = { typeId: "core.interrupt", config, inputs: { [name]: { type: "variable", variableName: "text" } } };
    const source = decided(gate, "core.noop", name === "gateId" ? { decision: "granted" } : ACCEPT);
    expect(source.run.status).toBe("completed");
    expect(await branchRule(source, { overlay: OTHER_AMOUNT })).toEqual([]);
    expect(await branchRule(source, { overlay: OTHER_TEXT })).toEqual(["gate"]);
  });

  test.each([
    ["a node before it read what the branch changes", shows("amount"), OTHER_AMOUNT, ["gate"]],
    ["nothing before it did", shows("text"), OTHER_AMOUNT, []],
    ["nothing changed", shows("amount"), {}, []],
  ])("is kept or not, by what led to it: %s", async (_, inputs, overlay, expected) => {
    const source = decided({ config: holds }, { typeId: "core.identity", inputs });
    expect(await branchRule(source, { overlay, effects })).toEqual(expected);
  });

  test.each(["test.other", "core.dispatch"])(
    "is asked for again after %s, whose reads are not known",
    async (typeId) => {
      const gate = { typeId: "core.approvalGate", config: holds };
      const first = typeId === "test.other" ? "core.noop" : typeId;
      const source = sourceRun({ nodes: { first, gate }, edges: ["first>gate"], variables }).go();
      source.resolve("gate", ACCEPT).go();
      const acting = typeId === "test.other" ? ["core.noop"] : [];
      expect(await branchRule(source, { overlay: OTHER_AMOUNT, effects: acting })).toEqual(["gate"]);
      expect(await branchRule(source, { effects: acting })).toEqual([]);
    },
  );

  test("is asked for again where the gate cannot be computed with the new inputs, or would not ask", async () => {
    const inputs = { artifact: { type: "expression", expression: "variables.text + nothing.there" } };
    const source = decided({ config: holds, inputs: shows("text") });
    const plan = sourceRun({
      nodes: { first: "core.noop", gate: { typeId: "core.approvalGate", config: holds, inputs }, act: "test.sets" },
      edges: ["first>gate", "gate>act"],
      variables,
    }).plan;
    expect(await branchRule({ ...source, plan, events: source.events }, { overlay: OTHER_AMOUNT })).toEqual(["gate"]);
    expect(await branchRule(source, { effects: ["core.approvalGate"], overlay: OTHER_AMOUNT })).toEqual(["gate"]);
  });
});

describe("an approval by a principal behind the branch", () => {
  const config = { ...holds, forbidSelfApproval: true, requiredApprovals: 2 };
  const nodes = { gate: { typeId: "core.approvalGate", config }, act: "test.sets" };
  const source = () =>
    sourceRun({ nodes, edges: ["gate>act"] })
      .go()
      .resolve("gate", ACCEPT, ANA);
  const startedBy = (one: string) => (run: Run) => ({ ...run, startedBy: one });

  test("is void, also where the gate holds and nothing changed", async () => {
    const run = source().resolve("gate", ACCEPT, BEN).go();
    expect(await branchRule(run, { change: startedBy("ben") })).toEqual(["gate"]);
    expect(await branchRule(run, { change: startedBy("eve") })).toEqual([]);
  });

  test("is void no more where the gate does not forbid it, and a rejection by them is not void", async () => {
    expect(await branchRule(decided({ config: holds }), { change: startedBy("ana") })).toEqual([]);
    const rejected = source().resolve("gate", { action: "reject" }, somebody("ben"));
    expect(await branchRule(rejected.go(), { at: rejected.events.length - 1, change: startedBy("ben") })).toEqual([]);
  });
});

describe("a wait for an external event", () => {
  const wait = (first: unknown = "core.noop") => {
    const gate = {
      typeId: "core.interrupt",
      config: { kind: "external-event", data: { eventType: "paid" } },
      inputs: { correlation: { type: "variable", variableName: "order" } },
    };
    return decided(gate, first, { id: 7 });
  };

  test("is kept before an effect and for other inputs, and not where it is for another event", async () => {
    expect(await branchRule(wait(), { effects })).toEqual([]);
    expect(await branchRule(wait(), { effects, overlay: OTHER_AMOUNT })).toEqual([]);
    expect(await branchRule(wait(), { overlay: { inputs: { order: { id: 8 } } } })).toEqual(["gate"]);
  });

  test("is kept where the run itself has changed what it waited for since", async () => {
    const change = (run: Run): Run => ({ ...run, variables: { ...run.variables, order: { id: 8 } } });
    expect(await branchRule(wait(), { effects, change })).toEqual([]);
  });

  test("is kept whatever was read before it: an event decides nothing", async () => {
    const source = wait({ typeId: "core.identity", inputs: shows("amount") });
    expect(await branchRule(source, { overlay: OTHER_AMOUNT })).toEqual([]);
  });
});

describe("a node that did not ask", () => {
  /** start → node, where the first inputs lead past the node. */
  const passed = (node: unknown) => {
    const condition = { expression: "variables.amount > 100" };
    return sourceRun({
      nodes: { start: "core.noop", node },
      edges: [{ from: "start", to: "node", condition }],
      variables,
    });
  };
  const gated = () => sourceRun({ id: "gated", nodes: { gate: "core.approvalGate" } });
  const computes = () => sourceRun({ id: "computes", nodes: { only: "core.noop" } });
  const sub = (workflowId: string) => ({ typeId: "core.subWorkflow", config: { workflowId } });

  test.each<[string, unknown, string[]]>([
    ["a gate", "core.approvalGate", ["node"]],
    ["a wait for an event", { typeId: "core.interrupt", config: { kind: "external-event" } }, []],
    ["a node that only computes", "core.noop", []],
    ["a sub-workflow with a gate", sub("gated"), ["node"]],
    ["a sub-workflow without one", sub("computes"), []],
    ["a sub-workflow that is not registered", sub("unknown"), ["node"]],
    ["a dispatch", "core.dispatch", []],
  ])("may have to with other inputs, where they led past it: %s", async (_, node, expected) => {
    const source = passed(node).go();
    expect(source.run.nodes["node"]?.status).toBe("skipped");
    const registered = [gated(), computes()];
    expect(await branchRule(source, { overlay: OTHER_AMOUNT, registered })).toEqual(expected);
    expect(await branchRule(source, { effects, registered })).toEqual([]);
  });

  test.each(["core.dispatch", "core.subWorkflow"])("is not visited again as a %s that has ended", async (typeId) => {
    const source = sourceRun({ nodes: { node: { typeId, config: { workflowId: "gated" } } }, variables }).go();
    expect(await branchRule(source, { overlay: OTHER_AMOUNT, registered: [gated()] })).toEqual([]);
  });
});

describe("a gate in a run below", () => {
  const below = (config: object = {}, more: object = {}) => {
    const gate = { typeId: "core.approvalGate", config };
    return sourceRun({ id: "below", nodes: { gate, after: "core.identity" }, edges: ["gate>after"], ...more })
      .go()
      .resolve("gate", ACCEPT)
      .go();
  };
  const above = (inputs: object = {}, nodes: object = {}) =>
    sourceRun({
      nodes: {
        child: { typeId: "core.subWorkflow", config: { workflowId: "below" }, inputs },
        act: "test.sets",
        ...nodes,
      },
      edges: ["child>act"],
      variables,
    }).go();
  const ask = (child: Simulation | undefined, branch: object, as: object = {}, inputs: object = {}) =>
    branchRule(above(inputs), { children: [childOfNode("child", child, as)], ...branch });
  const AMOUNT = { amount: { type: "variable", variableName: "amount" } };
  const GIVEN = { inputs: { amount: 1 } };

  test.each<[string, object, object, string[]]>([
    ["nothing changed, no effect follows", {}, {}, []],
    ["an effect follows in the run above", {}, { effects }, ["child"]],
    ["an effect follows in its own run", {}, { effects: ["core.identity"] }, ["child"]],
    ["other inputs", {}, { overlay: OTHER_TEXT }, ["child"]],
    ["it holds, and its run is given the same", holds, { overlay: OTHER_TEXT, effects }, []],
  ])("asks again or not: %s", async (_, config, branch, expected) => {
    expect(await ask(below(config), branch)).toEqual(expected);
  });

  test("that holds asks again where its run is given other inputs", async () => {
    expect(await ask(below(holds), { overlay: OTHER_AMOUNT }, GIVEN, AMOUNT)).toEqual(["child"]);
    expect(await ask(below(holds), { overlay: OTHER_TEXT }, GIVEN, AMOUNT)).toEqual([]);
    expect(await ask(below(holds), { effects }, { inputs: { amount: 7 } }, AMOUNT)).toEqual(["child"]);
  });

  test("that holds asks again where what its run is given came from what the branch changes", async () => {
    const first = { typeId: "core.identity", inputs: AMOUNT };
    const source = sourceRun({
      nodes: { first, child: { typeId: "core.subWorkflow", config: { workflowId: "below" } } },
      edges: ["first>child"],
      variables,
    }).go();
    const children = [childOfNode("child", below(holds))];
    expect(await branchRule(source, { children, overlay: OTHER_AMOUNT })).toEqual(["child"]);
    expect(await branchRule(source, { children, overlay: OTHER_TEXT })).toEqual([]);
  });

  test("that holds asks again below a dispatch, whose inputs are not known", async () => {
    const source = sourceRun({ nodes: { child: "core.dispatch" }, variables }).go();
    const children = [childOfNode("child", below(holds))];
    expect(await branchRule(source, { children, overlay: OTHER_TEXT })).toEqual(["child"]);
    expect(await branchRule(source, { children })).toEqual([]);
  });

  test("that was not reached is asked with other inputs, and only with those", async () => {
    const quiet = sourceRun({ id: "below", nodes: { gate: "core.approvalGate" } });
    expect(await ask(quiet, { overlay: OTHER_AMOUNT }, GIVEN, AMOUNT)).toEqual(["child"]);
    expect(await ask(quiet, { overlay: OTHER_TEXT }, GIVEN, AMOUNT)).toEqual([]);
    expect(await ask(quiet, { effects }, GIVEN, AMOUNT)).toEqual([]);
    const computes = sourceRun({ id: "below", nodes: { only: "core.noop" } }).go();
    expect(await ask(computes, { overlay: OTHER_AMOUNT }, GIVEN, AMOUNT)).toEqual([]);
  });

  test("may have been in a run that is deleted", async () => {
    expect(await ask(undefined, {})).toEqual(["child"]);
    expect(await ask(undefined, {}, { waits: false })).toEqual([]);
  });

  test("is void where it was approved by a principal behind the branch", async () => {
    const change = (run: Run): Run => ({ ...run, startedBy: "ana" });
    expect(await ask(below({ ...holds, forbidSelfApproval: true }), { change })).toEqual(["child"]);
    expect(await ask(below({ ...holds, forbidSelfApproval: true }), {})).toEqual([]);
  });

  test("that waited for an event is kept, but for a run that is given other inputs", async () => {
    const wait = { kind: "external-event", data: { eventType: "paid", correlation: { id: 7 } } };
    const child = () =>
      sourceRun({
        id: "below",
        nodes: { wait: { typeId: "core.interrupt", config: wait }, after: "core.identity" },
        edges: ["wait>after"],
      })
        .go()
        .resolve("wait", { id: 7 })
        .go();
    expect(await ask(child(), { effects: ["test.sets", "core.identity"] })).toEqual([]);
    expect(await ask(child(), { overlay: OTHER_TEXT })).toEqual([]);
    expect(await ask(child(), { overlay: OTHER_AMOUNT }, GIVEN, AMOUNT)).toEqual(["child"]);
    expect(await ask(child(), { effects }, { inputs: { amount: 7 } }, AMOUNT)).toEqual([]);
  });

  describe("two runs below", () => {
    const middle = () =>
      sourceRun({
        id: "middle",
        nodes: { deeper: "core.subWorkflow", last: "core.channelWrite" },
        edges: ["deeper>last"],
      });
    const deep = (branch: object, config: object = {}, as: object = {}, given: object = {}) =>
      branchRule(above(AMOUNT), {
        children: [
          childOfNode("child", middle(), {
            ...GIVEN,
            ...given,
            below: [childOfNode("deeper", below(config), as)],
          }),
        ],
        ...branch,
      });

    test("counts the effects in each run above it", async () => {
      expect(await deep({})).toEqual([]);
      expect(await deep({ effects })).toEqual(["child"]);
      expect(await deep({ effects: ["core.channelWrite"] })).toEqual(["child"]);
      expect(await deep({ effects: ["core.identity"] })).toEqual(["child"]);
    });

    test("holds where the run above it is given the same", async () => {
      expect(await deep({ overlay: OTHER_TEXT }, holds)).toEqual([]);
      expect(await deep({ overlay: OTHER_TEXT })).toEqual(["child"]);
      expect(await deep({ overlay: OTHER_AMOUNT }, holds)).toEqual(["child"]);
    });

    test("does not count where it is not waited for", async () => {
      expect(await deep({ effects }, {}, { waits: false })).toEqual([]);
    });
  });
});
