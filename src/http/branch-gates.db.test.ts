import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Run } from "../protocol/run.ts";
import { BOTH_STORES } from "../testing/both-stores.ts";
import { ForkHost } from "../testing/fork-host.ts";
import { told } from "../testing/forks.ts";
import { expectError } from "../testing/host.ts";
import { expectAllRebuilt } from "../testing/rebuilt.ts";
import { answer, enrol } from "../testing/voters.ts";
import { type WorkflowSpec, workflow } from "../testing/workflow.ts";

const ACCEPT = { action: "accept" };
const TEXT = { name: "text", type: "string", defaultValue: "harmless" } as const;
const AMOUNT = { name: "amount", type: "number", defaultValue: 1 } as const;
const SHOWS_TEXT = { artifact: { type: "variable", variableName: "text" } } as const;
const gate = (config: object = {}) => ({ typeId: "core.approvalGate", config, inputs: SHOWS_TEXT }) as never;
const governed = (config: object = {}) =>
  ({ typeId: "core.openwop.governance.approvalGate", config: { requiredRole: "reviewer", ...config } }) as never;
const OTHER_TEXT = { inputs: { text: "harmful" } };

describe.each(BOTH_STORES)("the gates of a branch on %s", (_, open) => {
  let forks: ForkHost;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    forks = await ForkHost.start(opened.store);
  });
  afterAll(async () => {
    await expectAllRebuilt(forks.host.store);
    await forks.host.close();
    await drop();
  });

  const register = (spec: WorkflowSpec) => forks.gates.registerWorkflow(workflow({ variables: [TEXT], ...spec }));
  /** A run of the workflow that has come to its end, with its gate answered. */
  const ended = async (id: string, value: unknown = ACCEPT, more: object = {}): Promise<string> => {
    const runId = await forks.gates.waiting(id, "owner", more);
    const given = await forks.gates.answer(runId, value);
    expect(given.statusCode, given.payload).toBe(200);
    await forks.ended(runId);
    return runId;
  };
  /** A branch of a run from right before its end, or from where a node began. */
  const branch = async (source: string, runOptionsOverlay: object = {}, nodeId?: string): Promise<string> => {
    const fromSeq = await pointIn(source, nodeId);
    return (await forks.fork(source, { mode: "branch", fromSeq, runOptionsOverlay })).runId;
  };
  const pointIn = async (source: string, nodeId?: string): Promise<number> => {
    const log = await forks.log(source);
    const begun = log.findLast((event) => event.type === "node.started" && event.nodeId === nodeId);
    return begun?.sequence ?? log.length - 1;
  };
  const waits = (runId: string): Promise<Run> =>
    forks.gates.until(runId, ({ status }) => status.startsWith("waiting-"));
  const callsOf = (runId: string): number => forks.effect.calls.filter((one) => one === runId).length;
  const stateOf = async (runId: string, node = "gate") =>
    (await forks.gates.snapshot(runId)).nodeStates?.[node] as Readonly<Record<string, unknown>> | undefined;

  /** The branch waits, has done nothing behind its gate, and goes on when somebody decides for it. */
  async function expectAsked(runId: string, value: unknown = ACCEPT, node = "gate"): Promise<void> {
    await waits(runId);
    expect(callsOf(runId)).toBe(0);
    const given = await forks.gates.answer(runId, value, { node });
    expect(given.statusCode, given.payload).toBe(200);
    await forks.ended(runId);
  }

  test("ask again about other inputs, showing those, and let nothing through before", async () => {
    await register({ id: "publish", nodes: { gate: gate(), count: "test.counted" }, edges: ["gate>count"] });
    const source = await ended("publish");
    const fromSeq = await pointIn(source, "count");
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq, runOptionsOverlay: OTHER_TEXT });
    await waits(runId);
    const { interrupt } = await forks.gates.snapshot(runId);
    expect(interrupt?.data).toMatchObject({
      artifactData: "harmful",
      previous: { outcome: "granted", decidedBy: "ada", decidedFor: source, changedOptions: ["inputs.text"] },
    });
    expect(interrupt?.votes).toEqual([]);
    const log = await forks.log(runId);
    expect(told(log.slice(0, fromSeq))).toEqual(told((await forks.log(source)).slice(0, fromSeq)));
    expect(log[fromSeq]).toMatchObject({
      type: "assay.branch.began",
      payload: { nodeIds: ["gate"], reopens: ["gate"], changes: ["inputs.text"] },
    });
    await expectAsked(runId);
    expect(callsOf(runId)).toBe(1);
  });

  test("ask again before an effect, also when nothing was changed", async () => {
    const source = await ended("gate-then-count");
    await expectAsked(await branch(source, {}, "count"));
    await expectAsked(await branch(source));
    await expectAsked(await branch(source, { tags: ["x"], metadata: { a: 1 } }));
  });

  test("keep what was decided where nothing changed and no effect follows, and name the run it was decided for", async () => {
    await register({ id: "quiet", nodes: { gate: gate(), after: "core.noop" }, edges: ["gate>after"] });
    const source = await ended("quiet");
    const first = await branch(source, { inputs: { text: "harmless" } }, "after");
    expect(await forks.ended(first)).toMatchObject({ status: "completed" });
    expect(await stateOf(first)).toMatchObject({ status: "completed", decidedFor: source });
    expect(await stateOf(source)).not.toHaveProperty("decidedFor");
    const second = await branch(first);
    expect(await forks.ended(second)).toMatchObject({ status: "completed" });
    expect(await stateOf(second)).toMatchObject({ decidedFor: source });
    await expectAsked(await branch(first, OTHER_TEXT));
  });

  test("ask again for other options, and not for the same ones", async () => {
    await register({ id: "tuned", nodes: { gate: gate(), after: "core.noop" }, edges: ["gate>after"] });
    const source = await ended("tuned", ACCEPT, { configurable: { colour: "red" } });
    await expectAsked(await branch(source, { configurable: { colour: "blue" } }));
    expect(await forks.ended(await branch(source, { configurable: { colour: "red" } }))).toMatchObject({
      status: "completed",
    });
  });

  test("that hold for branches keep their decision as long as they show the same", async () => {
    const holds = gate({ approvalHoldsForBranches: true });
    await register({
      id: "holds",
      nodes: { gate: holds, count: "test.counted" },
      edges: ["gate>count"],
      variables: [TEXT, AMOUNT],
    });
    const source = await ended("holds");
    const same = await branch(source, { inputs: { amount: 2 } }, "count");
    expect(await forks.ended(same)).toMatchObject({ status: "completed" });
    expect([callsOf(same), await stateOf(same)]).toMatchObject([1, { decidedFor: source }]);
    await expectAsked(await branch(source, OTHER_TEXT));
    await expectAsked(await branch(same, OTHER_TEXT));
  });

  test("keep nothing that whoever branches has approved, where nobody approves what they started", async () => {
    const config = { forbidSelfApproval: true, approvalHoldsForBranches: true };
    await register({ id: "both-halves", nodes: { gate: gate(config), count: "test.counted" }, edges: ["gate>count"] });
    const source = await forks.gates.waiting("both-halves");
    const rita = await enrol(forks.host.store, "rita");
    await answer(forks.host.host, rita, source, ACCEPT);
    await forks.ended(source);
    expect(await forks.ended(await branch(source))).toMatchObject({ status: "completed" });
    const eves = await forks.gates.waiting("both-halves", "east");
    expect((await forks.gates.answer(eves, ACCEPT)).statusCode).toBe(200);
    await forks.ended(eves);
    const runId = await branch(eves);
    await waits(runId);
    expect(callsOf(runId)).toBe(0);
    expectError(await forks.gates.answer(runId, ACCEPT), "forbidden");
  });

  test.each<[string, unknown, unknown]>([
    ["a governed gate", governed(), { decision: "granted" }],
    [
      "an overridden gate",
      governed({
        requiredScope: "deploy:promote",
        quorum: 2,
        override: { requiredRole: "owner" },
        overrideBypassesQuorum: true,
      }),
      { decision: "granted", override: true, reason: "fire" },
    ],
    [
      "a question",
      { typeId: "core.clarificationGate", config: { questions: [{ id: "q", question: "Q?" }] } },
      { answers: { q: 1 } },
    ],
    [
      "a gate of your own",
      { typeId: "core.interrupt", config: { kind: "custom", data: { customKind: "x" } } },
      { go: true },
    ],
    ["an approval by interrupt", { typeId: "core.interrupt", config: { kind: "approval" } }, ACCEPT],
  ])("ask again, be it %s", async (name, node, value) => {
    const id = name.replaceAll(" ", "-");
    await register({ id, nodes: { gate: node as never, count: "test.counted" }, edges: ["gate>count"] });
    const source = await ended(id, value);
    await expectAsked(await branch(source, {}, "count"), value);
  });

  test("ask again where they were rejected, or ran out of time", async () => {
    const edges = [{ from: "gate", to: "count", triggerRule: "any_failed" as const }];
    for (const [id, config] of [
      ["refused", {}],
      ["late", { timeoutMs: 1 }],
    ] as const) {
      await register({ id, nodes: { gate: gate(config), count: "test.counted" }, edges });
      const source = await forks.gates.start(id);
      if (id === "refused") {
        await waits(source);
        await forks.gates.answer(source, { action: "reject" });
      }
      await forks.ended(source);
      expect(callsOf(source)).toBe(1);
      const runId = await branch(source, {}, "count");
      await forks.gates.until(runId, ({ interrupts }) => Object.values(interrupts).some((one) => !one.inherited));
    }
  });

  test("ask again in the last round of a loop", async () => {
    const decided = (right: string) => ({ type: "equals" as const, left: "output.decision", right });
    await register({
      id: "rounds",
      nodes: {
        draft: "core.noop",
        gate: gate({ actions: ["accept", "refine"], requireBoundVotes: false }),
        count: "test.counted",
      },
      edges: [
        "draft>gate",
        { from: "gate", to: "draft", condition: decided("refined") },
        { from: "gate", to: "count", condition: decided("granted") },
      ],
    });
    const source = await forks.gates.waiting("rounds");
    const first = await forks.gates.interrupt(source);
    await forks.gates.answer(source, { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } });
    await forks.gates.until(source, ({ interrupts }) => Object.keys(interrupts).length === 2);
    expect((await forks.gates.interrupt(source)).interruptId).not.toBe(first.interruptId);
    await forks.gates.answer(source, ACCEPT);
    await forks.ended(source);
    const runId = await branch(source, {}, "count");
    await waits(runId);
    expect((await forks.gates.snapshot(runId)).interrupts).toHaveLength(1);
    await expectAsked(runId);
  });

  test("ask where the first inputs led past them", async () => {
    const big = { expression: "variables.amount > 100" };
    await register({
      id: "big-only",
      nodes: { start: "core.noop", gate: gate(), count: "test.counted" },
      edges: [
        { from: "start", to: "gate", condition: big },
        { from: "start", to: "count", triggerRule: "none_failed" },
        { from: "gate", to: "count", triggerRule: "none_failed" },
      ],
      variables: [TEXT, AMOUNT],
    });
    const source = await forks.gates.start("big-only");
    expect(await forks.ended(source)).toMatchObject({ status: "completed", nodes: { gate: { status: "skipped" } } });
    await expectAsked(await branch(source, { inputs: { amount: 1_000_000 } }, "count"));
  });

  describe("in sub-workflows", () => {
    beforeAll(async () => {
      const child = (workflowId: string) => ({ typeId: "core.subWorkflow", config: { workflowId } }) as never;
      await register({ id: "inner", nodes: { gate: gate(), done: "core.noop" }, edges: ["gate>done"] });
      await register({ id: "inner-holds", nodes: { gate: gate({ approvalHoldsForBranches: true }) } });
      await register({ id: "inner-acts", nodes: { gate: gate(), act: "test.counted" }, edges: ["gate>act"] });
      await register({ id: "middle", nodes: { below: child("inner") } });
      const nodes = (workflowId: string) => ({ child: child(workflowId), count: "test.counted", last: "core.noop" });
      const edges = ["child>count", "count>last"];
      await register({ id: "above-inner", nodes: nodes("inner"), edges });
      await register({ id: "above-middle", nodes: nodes("middle"), edges });
      await register({ id: "above-holds", nodes: nodes("inner-holds"), edges });
      await register({
        id: "above-acts",
        nodes: { child: child("inner-acts"), last: "core.noop" },
        edges: ["child>last"],
      });
      await register({ id: "above-quiet", nodes: { child: child("inner"), last: "core.noop" }, edges: ["child>last"] });
      await register({
        id: "before-acts",
        nodes: { gate: gate(), child: child("inner-acts") },
        edges: ["gate>child"],
      });
    });

    /** The run below this one that waits, however deep. */
    async function waitingBelow(runId: string): Promise<string> {
      const { children, interrupts } = await waits(runId);
      if (Object.values(interrupts).some(({ status }) => status === "open")) return runId;
      const [child = ""] = Object.entries(children).find(([, { status }]) => status.startsWith("waiting-")) ?? [];
      return waitingBelow(child);
    }
    async function through(id: string): Promise<string> {
      const source = await forks.gates.waiting(id);
      await forks.gates.answer(await waitingBelow(source), ACCEPT);
      await forks.ended(source);
      return source;
    }

    test.each([
      ["above-inner", {}],
      ["above-middle", {}],
      ["above-acts", {}],
      ["above-quiet", OTHER_TEXT],
    ])("make the sub-workflow of %s start over and ask again", async (id, overlay) => {
      const source = await through(id);
      const runId = await branch(source, overlay, "last");
      const below = await waitingBelow(runId);
      expect(callsOf(runId)).toBe(0);
      const theirs = Object.keys((await forks.host.store.readRun({ tenant: "t1" }, source))?.children ?? {});
      expect(theirs).not.toContain(below);
      await forks.gates.answer(below, ACCEPT);
      expect(await forks.ended(runId)).toMatchObject({ status: "completed" });
    });

    test.each([
      ["above-quiet", {}],
      ["above-holds", OTHER_TEXT],
    ])("keep the sub-workflow of %s where its gate still holds", async (id, overlay) => {
      const source = await through(id);
      const runId = await branch(source, overlay, "last");
      const { children } = await forks.ended(runId);
      expect(Object.keys(children)).toHaveLength(1);
      expect((await forks.gates.snapshot(runId)).status).toBe("completed");
    });

    test("count the effects of a sub-workflow that follows a gate", async () => {
      const source = await forks.gates.waiting("before-acts");
      await forks.gates.answer(source, ACCEPT);
      await forks.gates.until(source, ({ children }) => Object.keys(children).length > 0);
      const runId = await branch(source, {}, "child");
      await waits(runId);
      expect((await forks.gates.snapshot(runId)).interrupts).toMatchObject([{ nodeId: "gate" }]);
    });
  });

  test("of a branch that was not decided are not decided in a branch of it", async () => {
    const source = await ended("gate-then-count");
    const first = await branch(source, {}, "count");
    const { version } = await waits(first);
    for (const fromSeq of [version, await pointIn(source, "count")]) {
      const { runId } = await forks.fork(first, { mode: "branch", fromSeq });
      await expectAsked(runId);
    }
  });

  test("that were decided in an earlier round, and are passed by in this one, refuse the branch", async () => {
    await register({
      id: "once-only",
      nodes: { start: "core.noop", gate: gate(), count: "test.counted", stop: gate({ actions: ["accept", "refine"] }) },
      edges: [
        { from: "start", to: "gate", condition: { type: "falsy", left: "variables.number" } },
        { from: "start", to: "count", triggerRule: "none_failed" },
        { from: "gate", to: "count", triggerRule: "none_failed" },
        "count>stop",
        { from: "stop", to: "start", condition: { type: "equals", left: "output.decision", right: "refined" } },
      ],
    });
    const source = await forks.gates.waiting("once-only");
    await forks.gates.answer(source, ACCEPT);
    const stops = (count: number) =>
      forks.gates.until(source, ({ interrupts }) => Object.keys(interrupts).length === 1 + count);
    await stops(1);
    const again = { action: "refine", refineFeedback: { scope: "whole", text: "once more" } };
    await forks.gates.answer(source, again, { node: "stop" });
    expect(await stops(2)).toMatchObject({ nodes: { gate: { status: "skipped" } } });
    const fromSeq = await pointIn(source, "count");
    const details = expectError(await forks.ask(source, { mode: "branch", fromSeq }), "fork_point_invalid");
    expect(details["problem"]).toContain("gate of node gate was decided in an earlier round");
    await forks.host.ask("POST", `/v1/runs/${source}/cancel`, { json: {} });
  });

  test("are not asked in a replay", async () => {
    const source = await ended("gate-then-count");
    const { runId } = await forks.fork(source, { mode: "replay" });
    expect(await forks.ended(runId)).toMatchObject({ status: "completed" });
    expect(callsOf(runId)).toBe(0);
    expect(await stateOf(runId)).not.toHaveProperty("decidedFor");
  });
});
