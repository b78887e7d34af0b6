import { describe, expect, test } from "vitest";
import { openInterrupts } from "../../protocol/runs/run.ts";
import { acted, actedWithoutVotes, branchOf, replayOf, sourceRun } from "../../testing/branches.ts";
import { ANA } from "../../testing/judges.ts";
import type { Simulation } from "../../testing/simulate.ts";
import { cancelRun } from "./decide/end-run.ts";

const ACCEPT = { action: "accept" };
const REFINE = { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } };
const VARIABLES = [
  { name: "text", type: "string", defaultValue: "harmless" },
  { name: "risk", type: "string", defaultValue: "none" },
  { name: "approved", type: "boolean", defaultValue: false },
];
const reading = (variableName: string) => ({ type: "variable", variableName }) as const;
const gate = (config: object = {}) => ({
  typeId: "core.approvalGate",
  config: { actions: ["accept", "refine"], requireBoundVotes: false, ...config },
  inputs: { artifact: reading("text") },
});
const MARK = { typeId: "test.sets", config: { variables: { approved: true } } };
const HARMFUL = { inputs: { text: "a text that is long and harmful" } };
const unapproved = { type: "falsy", left: "variables.approved" } as const;
const decided = (right: string) => ({ type: "equals", left: "output.decision", right }) as const;
const join = (to: string, ...from: string[]) => from.map((one) => ({ from: one, to, triggerRule: "none_failed" }));
const run = (nodes: object, edges: readonly (string | object)[], more: object = {}): Simulation =>
  sourceRun({ nodes, edges, variables: VARIABLES, ...more }).go();
const began = ({ events }: Simulation) => {
  const event = events.findLast(({ type }) => type === "assay.branch.began");
  return event?.type === "assay.branch.began" ? event.payload : undefined;
};
const branch = async (source: Simulation, how: Parameters<typeof branchOf>[1] = {}): Promise<Simulation> => {
  const found = await branchOf(source, how);
  if (found === undefined) throw new Error("the run has ended there");
  return found;
};

describe("a branch that nobody votes in never acts", () => {
  const notes = (nodes: object, edges: readonly (string | object)[]) => () =>
    run(nodes, edges).resolve("gate", ACCEPT).go();
  const sources: Readonly<Record<string, () => Simulation>> = {
    "on a variable that notes the first approval": notes(
      { start: "core.noop", gate: gate(), mark: MARK, act: "test.acts" },
      [{ from: "start", to: "gate", condition: unapproved }, ...join("mark", "start", "gate"), "mark>act"],
    ),
    "on a variable that was written while the gate was open": () =>
      run({ start: "core.noop", gate: gate(), mark: MARK, act: "test.acts" }, [
        "start>mark",
        { from: "start", to: "gate", condition: unapproved },
        ...join("act", "start", "gate"),
      ]),
    "on a variable that a node wrote which was decided about together with the gate": () =>
      run({ start: "core.noop", mark: MARK, gate: gate(), act: "test.acts" }, [
        "start>mark",
        { from: "start", to: "gate", condition: unapproved },
        ...join("act", "start", "gate"),
      ]),
    "on a variable that leads past a gate which need not wait for all": () =>
      run({ start: "core.noop", slow: gate(), mark: MARK, gate: gate(), act: "test.acts" }, [
        "start>slow",
        "start>mark",
        { from: "start", to: "gate", triggerRule: "any_success", condition: unapproved },
        { from: "slow", to: "gate", triggerRule: "any_success", condition: unapproved },
        { from: "gate", to: "act" },
        {
          from: "mark",
          to: "act",
          triggerRule: "any_success",
          condition: { type: "falsy", left: "variables.approved" },
        },
      ]),
    "where its source was about to pass the node by": () =>
      run({ start: "core.noop", mark: MARK, act: "test.acts", gate: gate() }, [
        "start>mark",
        { from: "start", to: "act", condition: { type: "truthy", left: "variables.approved" } },
        "start>gate",
      ]),
    "on the score of the first text": () =>
      run(
        {
          score: {
            typeId: "core.identity",
            inputs: { long: { type: "expression", expression: "size(variables.text) > 20" } },
          },
          gate: gate(),
          act: "test.acts",
        },
        [
          { from: "score", to: "gate", condition: { type: "truthy", left: "output.long" } },
          ...join("act", "score", "gate"),
        ],
        { id: "long-only" },
      ),
    "on a decision of an earlier round": () => {
      const source = run({ start: "core.noop", gate: gate(), mark: MARK, act: "test.acts", stop: gate() }, [
        { from: "start", to: "gate", condition: unapproved },
        ...join("mark", "start", "gate"),
        "mark>act",
        "act>stop",
        { from: "stop", to: "start", condition: decided("refined") },
      ]);
      return source.resolve("gate", ACCEPT).go().resolve("stop", REFINE).go();
    },
    "in the next round of a lane that asks for the approval now and then": () => {
      const nodes = {
        poll: "core.noop",
        act: "test.acts",
        nap: { typeId: "core.delay", config: { ms: 1000 } },
        draft: "core.noop",
        edit: "core.noop",
        gate: gate(),
        mark: MARK,
      };
      const edges = [
        { from: "poll", to: "act", condition: { type: "truthy", left: "variables.approved" } },
        { from: "poll", to: "nap", condition: unapproved },
        { from: "nap", to: "poll" },
        "draft>edit",
        "edit>gate",
        "gate>mark",
      ];
      const settings = { maxLoopbackIterations: 3 };
      return sourceRun({ nodes, edges, variables: VARIABLES, settings }).turn().resolve("gate", ACCEPT).go();
    },
    "in a lane of its own, which reads what another gate let through": () =>
      run(
        {
          start: "core.noop",
          gate: gate(),
          mark: MARK,
          nap: {
            typeId: "core.interrupt",
            config: { kind: "external-event", data: { eventType: "woken", correlation: { order: 7 } } },
          },
          act: "test.acts",
        },
        [
          "start>gate",
          "gate>mark",
          "start>nap",
          { from: "nap", to: "act", condition: { type: "truthy", left: "variables.approved" } },
        ],
      )
        .resolve("gate", ACCEPT)
        .go(),
  };

  test.each(Object.entries(sources))("%s, wherever it begins", async (name, make) => {
    const source = make();
    const isShort = name === "on the score of the first text";
    for (let at = 1; at <= source.events.length; at++) {
      // A short text is published without a vote; a long one is not.
      const overlays = isShort ? [HARMFUL] : [{}, HARMFUL, { inputs: { approved: false } }];
      // Of large events, one read gives a few.
      for (const how of overlays.flatMap((overlay) => [{ overlay }, { overlay, page: 1 }, { overlay, page: 3 }])) {
        const begun = await branchOf(source, { at, ...how });
        if (begun === undefined) continue;
        const from = begun.events.length;
        begun.go();
        const waits = openInterrupts(begun.run).find(({ kind }) => kind === "external-event");
        if (waits !== undefined) begun.resolve(waits.nodeId, { order: 7 }).go();
        expect(acted(begun, from), `from ${at} with ${JSON.stringify(how)}`).toEqual([]);
      }
    }
  });
});

describe("a branch whose gate asks again", () => {
  const linear = () =>
    run(
      {
        draft: MARK,
        gate: gate(),
        after: { typeId: "test.sets", config: { variables: { risk: "high" } } },
        act: "test.acts",
      },
      ["draft>gate", "gate>after", "after>act"],
    )
      .resolve("gate", ACCEPT)
      .go();

  test("has the state from before the gate, and keeps what was done until then", async () => {
    const source = linear();
    const begun = await branch(source, { at: source.events.length - 1 });
    expect(begun.run.variables).toEqual({ text: "harmless", risk: "none", approved: true });
    expect(begun.run.nodes).toMatchObject({ draft: { status: "completed" }, gate: { status: "interrupted" } });
    expect(began(begun)).toMatchObject({ nodeIds: ["gate", "after", "act"], reopens: ["gate"] });
    expect(begun.events.slice(0, -1)).toHaveLength(source.events.length - 1);
    begun.go();
    expect(begun.story.filter((one) => one === "node.started:draft")).toHaveLength(1);
    expect(openInterrupts(begun.run)).toMatchObject([
      { nodeId: "gate", votes: [], data: { previous: { outcome: "granted", decidedFor: source.run.runId } } },
    ]);
    begun.resolve("gate", ACCEPT).go();
    expect(begun.run).toMatchObject({ status: "completed", variables: { risk: "high" } });
  });

  test("begins anew with other inputs, as a new run with these would", async () => {
    const source = linear();
    const begun = await branch(source, { at: source.events.length - 1, overlay: HARMFUL });
    expect(begun.run.nodes).toEqual({});
    expect(begun.run.variables).toEqual({ text: HARMFUL.inputs.text, risk: "none", approved: false });
    expect(began(begun)).toMatchObject({ goesBackTo: 1, changes: ["inputs.text"] });
    begun.go();
    expect(openInterrupts(begun.run)).toMatchObject([{ data: { artifactData: HARMFUL.inputs.text } }]);
  });

  test("begins anew with a value that the run has come to, and did not have then", async () => {
    const source = linear();
    const begun = await branch(source, { at: source.events.length - 1, overlay: { inputs: { risk: "high" } } });
    expect(began(begun)).toMatchObject({ goesBackTo: 1, changes: ["inputs.risk"] });
  });

  test("goes back behind each decision that does not hold, and no further", async () => {
    const source = run({ quiet: gate(), first: gate(), second: gate(), act: "test.acts" }, [
      "quiet>first",
      "first>second",
      "second>act",
    ]);
    source.resolve("quiet", ACCEPT).go().resolve("first", ACCEPT).go();
    const begun = await branch(source);
    expect(began(begun)?.reopens).toEqual(["quiet", "first"]);
    expect(openInterrupts(begun.go().run)).toMatchObject([{ nodeId: "quiet" }]);
  });

  test("keeps every decision where no node has effects and nothing is changed", async () => {
    const source = run({ gate: gate(), after: "core.noop", last: gate() }, ["gate>after", "after>last"]);
    source.resolve("gate", ACCEPT).go();
    const begun = await branch(source);
    expect(began(begun)).toEqual({ nodeIds: ["last"], enters: ["last"] });
    expect(openInterrupts(begun.go().run)).toMatchObject([{ nodeId: "last" }]);
  });

  test("keeps the options of the branches on the way to it where it goes back behind them", async () => {
    const source = linear();
    const first = (await branch(source, { at: source.events.length - 1, overlay: HARMFUL })).go();
    first.resolve("gate", ACCEPT).go();
    const second = await branch(first, { at: first.events.length - 1 });
    expect(second.run.variables["text"]).toBe(HARMFUL.inputs.text);
    expect(openInterrupts(second.go().run)).toMatchObject([{ data: { artifactData: HARMFUL.inputs.text } }]);
    expect(acted(second, first.events.length)).toEqual([]);
  });

  test("begins at its fork point where the gate is still open", async () => {
    const source = run({ start: MARK, gate: gate(), act: "test.acts" }, ["start>gate", "gate>act"]);
    expect(began(await branch(source))).toEqual({ nodeIds: ["gate"], enters: ["gate"] });
  });

  test("begins anew where its source is a replay, also if nothing is changed and no node has effects", async () => {
    const source = run({ gate: gate(), after: "core.noop", last: gate() }, ["gate>after", "after>last"]);
    source.resolve("gate", ACCEPT).go();
    const begun = await branch(replayOf(source));
    expect(began(begun)).toMatchObject({ goesBackTo: 1 });
    expect(openInterrupts(begun.go().run)).toMatchObject([{ nodeId: "gate" }]);
  });

  test("begins anew where too many nodes were decided about together", async () => {
    const many = Array.from({ length: 700 }, (_, i) => `n${i}`);
    const sets = (risk: string) => ({ typeId: "test.sets", config: { variables: { risk } } });
    const nodes = { start: "core.noop", ...Object.fromEntries(many.map((id) => [id, sets(id)])) };
    const edges = many.map((id) => `start>${id}`);
    const source = run({ ...nodes, mark: MARK, gate: gate(), act: "test.acts" }, [
      ...edges,
      "start>mark",
      { from: "start", to: "gate", condition: unapproved },
      ...join("act", "start", "gate"),
    ]);
    const begun = await branch(source, { at: source.story.indexOf("node.completed:start") + 1 });
    expect(began(begun)).toMatchObject({ goesBackTo: 1 });
  });

  test("shows nothing in its restored state that was kept from sight", async () => {
    const variables = [
      ...VARIABLES,
      { name: "key", type: "string", sensitive: true, defaultValue: "first-secret-word" },
    ];
    const change = { typeId: "test.sets", config: { variables: { key: "other-secret-word" } } };
    const source = run({ gate: gate(), change, act: "test.acts" }, ["gate>change", "change>act"], { variables });
    source.resolve("gate", ACCEPT).go();
    const begun = await branch(source, { at: source.events.length - 1 });
    expect(begun.run.variables["key"]).toBe("first-secret-word");
    expect(JSON.stringify(began(begun))).not.toContain("secret-word");
    expect(JSON.stringify(begun.events.at(-1)?.sealed)).toContain("first-secret-word");
  });
});

describe("a decision that holds for branches", () => {
  const HOLDS = gate({ approvalHoldsForBranches: true });
  const held = () => run({ gate: HOLDS, act: "test.acts" }, ["gate>act"]).resolve("gate", ACCEPT).go();

  test("is kept where nothing is changed, and where the gate shows the same", async () => {
    const source = held();
    const at = source.events.length - 1;
    for (const overlay of [{}, { inputs: { risk: "high" } }]) {
      const begun = (await branch(source, { at, overlay })).go();
      expect(begun.run.status).toBe("completed");
      expect(began(begun)?.goesBackTo).toBe("inputs" in overlay ? 1 : undefined);
    }
  });

  test("is asked for again where the gate shows something else", async () => {
    const source = held();
    const begun = (await branch(source, { at: source.events.length - 1, overlay: HARMFUL })).go();
    expect(openInterrupts(begun.run)).toMatchObject([{ nodeId: "gate" }]);
    expect(acted(begun, source.events.length)).toEqual([]);
  });

  test("is asked for again where it was made by a principal behind the branch, and the gate forbids that", async () => {
    const strict = gate({ approvalHoldsForBranches: true, forbidSelfApproval: true });
    const source = run({ gate: strict, act: "test.acts" }, ["gate>act"]).resolve("gate", ACCEPT, ANA).go();
    const at = source.events.length - 1;
    expect((await branch(source, { at, by: "somebody-else" })).go().run.status).toBe("completed");
    const begun = (await branch(source, { at, by: ANA.principal })).go();
    expect(openInterrupts(begun.run)).toMatchObject([{ nodeId: "gate" }]);
  });

  test("may be that the time ran out", async () => {
    const late = gate({ approvalHoldsForBranches: true, timeoutMs: 1000 });
    const source = run({ gate: late, act: "test.acts" }, [{ from: "gate", to: "act", triggerRule: "any_failed" }]);
    const [asked] = Object.values(source.run.interrupts);
    expect(asked?.status).toBe("expired");
    const begun = await branch(source, { at: source.events.length - 1, overlay: { inputs: { risk: "high" } } });
    expect(began(begun)).toMatchObject({ voids: [], holds: [{ interruptId: asked?.interruptId }] });
  });

  test("is none while the gate is open", async () => {
    const source = run({ gate: HOLDS, act: "test.acts" }, ["gate>act"]);
    const begun = await branch(source, { overlay: { inputs: { risk: "high" } } });
    expect(began(begun)?.holds).toEqual([]);
  });

  test("does not hold any more where a branch on the way made it void", async () => {
    const strict = gate({ approvalHoldsForBranches: true, forbidSelfApproval: true });
    const source = run({ gate: strict, act: "test.acts" }, ["gate>act"]).resolve("gate", ACCEPT, ANA).go();
    const first = (await branch(source, { at: source.events.length - 1, by: ANA.principal })).go();
    const second = (await branch(first, { by: "somebody-else" })).go();
    expect(began(second)?.holds).toEqual([]);
    expect(openInterrupts(second.run)).toMatchObject([{ nodeId: "gate" }]);
    expect(acted(second, first.events.length)).toEqual([]);
  });

  test("holds in each round in which it was made", async () => {
    const edges = ["gate>act", "act>stop", { from: "stop", to: "gate", condition: decided("refined") }];
    const source = run({ gate: HOLDS, act: "test.acts", stop: HOLDS }, edges);
    source.resolve("gate", ACCEPT).go().resolve("stop", REFINE).go().resolve("gate", ACCEPT).go();
    source.resolve("stop", ACCEPT).go();
    const overlay = { inputs: { risk: "high" } };
    const begun = (await branch(source, { at: source.events.length - 1, overlay })).go();
    expect(acted(begun, source.events.length)).toEqual(["act", "act"]);
    expect(begun.run.status).toBe("completed");
  });

  test("counts once for each round in which it was made", async () => {
    const again = { type: "equals", left: "variables.risk", right: "high" } as const;
    const edges = ["gate>act", { from: "act", to: "gate", condition: again }];
    const source = run({ gate: HOLDS, act: "test.acts" }, edges, { settings: { maxLoopbackIterations: 3 } });
    source.resolve("gate", ACCEPT).go();
    expect(source.run.status).toBe("completed");
    const overlay = { inputs: { risk: "high" } };
    const begun = (await branch(source, { at: source.events.length - 1, overlay })).go();
    expect(acted(begun, source.events.length)).toEqual(["act"]);
    expect(openInterrupts(begun.run)).toMatchObject([{ nodeId: "gate" }]);
  });
});

test("a branch does not begin with a node that its source came to by the answer of another one", async () => {
  const eager = (from: string, more: object = {}) => ({ from, to: "publish", triggerRule: "any_success", ...more });
  const yes = (left: string) => ({ condition: { type: "truthy", left } });
  const judge = { typeId: "test.sets", config: { variables: { approved: true } } };
  const source = run({ check: "core.noop", judge, gate: gate(), publish: "test.acts" }, [
    "check>judge",
    eager("check", yes("output.fine")),
    eager("judge", yes("variables.approved")),
    { from: "judge", to: "gate", condition: unapproved },
    eager("gate"),
  ]);
  expect(acted(source)).toEqual(["publish"]);
  const begun = await branch(source, { at: source.story.indexOf("node.started:judge") });
  expect(began(begun)).toEqual({ nodeIds: [], enters: ["judge"] });
});

describe("the state that a branch goes back to", () => {
  test("has the channels of then", async () => {
    const write = (value: string) => ({ typeId: "core.channelWrite", config: { channelName: "notes", value } });
    const source = run({ before: write("before"), gate: gate(), after: write("after"), act: "test.acts" }, [
      "before>gate",
      "gate>after",
      "after>act",
    ]);
    source.resolve("gate", ACCEPT).go();
    expect(JSON.stringify(source.run.channels)).toContain("after");
    const { channels } = (await branch(source, { at: source.events.length - 1 })).run;
    expect(JSON.stringify(channels)).toContain("before");
    expect(JSON.stringify(channels)).not.toContain("after");
  });

  test("has the nodes under way that were so then, whatever their conditions say by now", async () => {
    const source = run(
      {
        start: "core.noop",
        first: gate({ approvalHoldsForBranches: true }),
        mark: MARK,
        gate: gate(),
        act: "test.acts",
      },
      [{ from: "start", to: "first", condition: unapproved }, "start>mark", "mark>gate", "gate>act"],
    );
    source.resolve("gate", ACCEPT).go();
    const begun = await branch(source);
    expect(began(begun)?.enters).toEqual(["first", "gate"]);
    expect(openInterrupts(begun.go().run).map(({ nodeId }) => nodeId)).toEqual(["first", "gate"]);
  });

  test("has the rounds of loops of then", async () => {
    const source = run({ draft: "core.noop", gate: gate(), act: "test.acts" }, [
      "draft>gate",
      { from: "gate", to: "draft", condition: decided("refined") },
      { from: "gate", to: "act", condition: decided("granted") },
    ]);
    source.resolve("gate", REFINE).go().resolve("gate", ACCEPT).go();
    expect(Object.values(source.run.loops)).toEqual([1]);
    expect((await branch(source, { at: source.events.length - 1 })).run.loops).toEqual({});
  });

  test("counts another visit of a node that was under way then and still is", async () => {
    const source = run({ other: gate(), start: "core.noop", gate: gate(), act: "test.acts" }, [
      "start>gate",
      "gate>act",
    ]);
    source.resolve("gate", ACCEPT).go();
    const begun = await branch(source);
    expect(began(begun)?.nodeIds).toContain("other");
    expect(openInterrupts(begun.go().run)).toMatchObject([{ key: "other:1" }, { key: "gate:1" }]);
  });

  test("has no answer that the gate had not gone on with", async () => {
    const source = run({ gate: gate(), other: gate() }, []).resolve("gate", ACCEPT);
    const [answered] = Object.values(source.run.interrupts).filter(({ status }) => status === "resolved");
    source.decide((one) => cancelRun(one, { by: "p1" }));
    const begun = await branch(source, { at: source.events.length - 1 });
    expect(began(begun)?.voids).toContain(answered?.interruptId);
    expect(openInterrupts(begun.go().run).map(({ nodeId }) => nodeId)).toEqual(["gate", "other"]);
  });

  test("has no value that a branch on the way was given and had by itself", async () => {
    const asks = gate({ forbidSelfApproval: true });
    const source = run({ start: "core.noop", gate: asks, mark: MARK, last: gate() }, [
      "start>gate",
      "gate>mark",
      "mark>last",
    ]);
    source.resolve("gate", ACCEPT, ANA).go();
    const first = await branch(source, { overlay: { inputs: { approved: true } } });
    expect(began(first)).not.toHaveProperty("goesBackTo");
    const second = await branch(first.go(), { by: ANA.principal });
    expect(second.run.variables["approved"]).toBe(false);
    expect(openInterrupts(second.go().run)).toMatchObject([{ nodeId: "gate" }]);
  });

  test("is the beginning where it would be one from before other options were given", async () => {
    const draft = { typeId: "core.identity", inputs: { noted: reading("risk") } };
    const holds = gate({ approvalHoldsForBranches: true, forbidSelfApproval: true });
    const variables = [...VARIABLES, { name: "noted", type: "string", defaultValue: "" }];
    const source = run({ draft, gate: holds, act: "test.acts" }, ["draft>gate", "gate>act"], { variables });
    source.resolve("gate", ACCEPT, ANA).go();
    const overlay = { inputs: { risk: "high" } };
    const first = (await branch(source, { at: source.events.length - 1, overlay })).go();
    expect(first.run.status).toBe("completed");
    const second = await branch(first, { at: first.events.length - 1, by: ANA.principal });
    expect(second.go().run.variables).toMatchObject({ risk: "high", noted: "high" });
    expect(openInterrupts(second.run)).toMatchObject([{ nodeId: "gate" }]);
  });

  test("is before a gate that was decided while an effect was to come once more", async () => {
    const wait = (order: number) => ({
      typeId: "core.interrupt",
      config: { kind: "external-event", data: { eventType: "woken", correlation: { order } } },
    });
    const source = run({ nap: wait(1), act: "test.acts", late: wait(2), gate: gate(), mark: MARK }, [
      { from: "nap", to: "act", condition: { type: "truthy", left: "variables.approved" } },
      "late>gate",
      "gate>mark",
    ]);
    source.resolve("nap", { order: 1 }).go().resolve("late", { order: 2 }).go();
    const first = (await branch(source, { overlay: HARMFUL })).go();
    first.resolve("late", { order: 2 }).go().resolve("gate", ACCEPT).go();
    const second = (await branch(first)).go();
    second.resolve("nap", { order: 1 }).go().resolve("late", { order: 2 }).go();
    expect(acted(second, first.events.length)).toEqual([]);
    expect(openInterrupts(second.run)).toMatchObject([{ nodeId: "gate" }]);
  });
});

describe("a wait for an external event", () => {
  const WAIT = {
    typeId: "core.interrupt",
    config: { kind: "external-event", data: { eventType: "paid", correlation: { order: 7 } } },
  };
  const waited = () =>
    run({ wait: WAIT, act: "test.acts", last: gate() }, ["wait>act", "act>last"]).resolve("wait", { order: 7 }).go();

  test("is over in a branch that changes nothing, and not in one with other inputs", async () => {
    const source = waited();
    expect(openInterrupts((await branch(source)).go().run)).toMatchObject([{ nodeId: "last" }]);
    expect(openInterrupts((await branch(source, { overlay: HARMFUL })).go().run)).toMatchObject([{ nodeId: "wait" }]);
  });
});

test("a branch of a workflow without gates begins at its fork point, with its new inputs", async () => {
  const source = run({ draft: MARK, act: "test.acts" }, ["draft>act"]);
  const at = source.story.indexOf("node.started:act");
  const begun = await branch(source, { at, overlay: HARMFUL });
  expect(began(begun)).toMatchObject({ nodeIds: [], inputs: HARMFUL.inputs });
  expect(began(begun)).not.toHaveProperty("goesBackTo");
  expect(begun.run.variables).toMatchObject({ approved: true, text: HARMFUL.inputs.text });
  expect(await actedWithoutVotes(source, { at })).toEqual([]);
});
