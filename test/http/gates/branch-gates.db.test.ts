import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { ACCEPT, branchBench, gate, OTHER_TEXT, TEXT } from "../../../src/testing/branch-bench.ts";
import { ForkHost } from "../../../src/testing/fork-host.ts";
import { told } from "../../../src/testing/forks.ts";
import { expectError } from "../../../src/testing/host.ts";
import { expectAllRebuilt } from "../../../src/testing/rebuilt.ts";
import { answer, enrol } from "../../../src/testing/voters.ts";

const AMOUNT = { name: "amount", type: "number", defaultValue: 1 } as const;
const governed = (config: object = {}) =>
  ({ typeId: "core.openwop.governance.approvalGate", config: { requiredRole: "reviewer", ...config } }) as never;

describe.each(HTTP_STORES)("the gates of a branch on %s", (_, open) => {
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

  const { register, ended, branch, pointIn, waits, callsOf, stateOf, expectAsked } = branchBench(() => forks);

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

  test("of a branch that was not decided are not decided in a branch of it", async () => {
    const source = await ended("gate-then-count");
    const first = await branch(source, {}, "count");
    const { version } = await waits(first);
    for (const fromSeq of [version, await pointIn(source, "count")]) {
      const { runId } = await forks.fork(first, { mode: "branch", fromSeq });
      await expectAsked(runId);
    }
  });

  test("that were decided in an earlier round, and are passed by in this one, are asked again as in that round", async () => {
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
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq });
    await waits(runId);
    expect((await forks.gates.snapshot(runId)).interrupts).toMatchObject([{ nodeId: "gate" }]);
    expect(callsOf(runId)).toBe(0);
    await forks.host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} });
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
