import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../protocol/events.ts";
import { Type } from "../../protocol/schema.ts";
import { hostAfter, replayed, told } from "../../testing/forks.ts";
import { type Simulation, simulate } from "../../testing/simulate.ts";
import { turnsOfOthers } from "../../testing/turns.ts";
import { workflow } from "../../testing/workflow.ts";
import { NODE_TYPES } from "../nodes/all.ts";
import { cancelRun } from "../runs/decide/end-run.ts";
import { pauseRun } from "../runs/decide/pause-run.ts";
import type { NodeContext, NodeOutcome, NodeType, NodeTypes } from "../worker/node-type.ts";

/** The host's node types, with one whose code is this. */
function withCode(execute: (context: NodeContext) => NodeOutcome): NodeTypes {
  const type: NodeType = {
    kind: "pure",
    typeId: "test.code",
    summary: "",
    config: Type.Object({}, { additionalProperties: true }),
    execute,
  };
  return new Map([...NODE_TYPES, [type.typeId, type]]);
}

const says = (text: string) => withCode(() => ({ type: "completed", outputs: { text }, variables: { text } }));

const replay = ({ plan, events }: Simulation, nodeTypes: NodeTypes = NODE_TYPES) =>
  replayed(hostAfter(events, nodeTypes), plan, events, 0);

const diverged = (events: readonly RunEvent[]) => events.filter(({ type }) => type === "replay.diverged");

describe("a replay whose code has changed since", () => {
  const talk = workflow({
    nodes: { say: "test.code", gate: "core.approvalGate", last: "core.noop" },
    edges: ["say>gate", "gate>last"],
  });

  test("records the first difference, once and right after it, and goes on", async () => {
    const source = simulate(talk, {}, { nodeTypes: says("hello") })
      .go()
      .resolve("gate", { action: "accept" })
      .go();
    const { run, events } = await replay(source, says("goodbye"));
    const at = source.events.findIndex(({ type }) => type === "variable.changed");
    expect(events[at]).toMatchObject({ type: "variable.changed", payload: { next: "goodbye" } });
    expect(events[at + 1]).toMatchObject({
      type: "replay.diverged",
      payload: {
        sourceRunId: source.run.runId,
        atSequence: at,
        originalEventId: source.events[at]?.eventId,
        divergenceKind: "output",
        divergencePoint: "variable.changed",
      },
    });
    expect(diverged(events)).toHaveLength(1);
    // Who decided what at the gate is told again all the same.
    expect(run).toMatchObject({ status: "completed", variables: { text: "goodbye" } });
    expect(events.map(({ type }) => type).filter((type) => type !== "replay.diverged")).toEqual(
      source.events.map(({ type }) => type),
    );
  });

  test("that fails now where it did not is of another kind, and ends there", async () => {
    const source = simulate(talk, {}, { nodeTypes: says("hello") }).go();
    const fails = withCode(() => ({ type: "failed", error: { code: "broken", message: "no" } }));
    const { run, events } = await replay(source, fails);
    expect(run).toMatchObject({ status: "failed", error: { code: "broken" } });
    expect(diverged(events)).toMatchObject([
      { payload: { divergenceKind: "type-mismatch", divergencePoint: "node.failed" } },
    ]);
    expect(events.at(-1)?.type).toBe("run.failed");
  });

  test("and that goes another way asks nobody there", async () => {
    const fork = workflow({
      nodes: { say: "test.code", left: "core.noop", right: "core.approvalGate" },
      edges: [
        { from: "say", to: "left", condition: { type: "equals", left: "output.text", right: "left" } },
        { from: "say", to: "right", condition: { type: "equals", left: "output.text", right: "right" } },
      ],
    });
    const source = simulate(fork, {}, { nodeTypes: says("left") }).go();
    const { run, events } = await replay(source, says("right"));
    expect(run).toMatchObject({ status: "failed", error: { code: "replay_source_missing" } });
    expect(run.interrupts).toEqual({});
    expect(diverged(events)).toHaveLength(1);
  });
});

describe("a replay of a run of version 0.1.0", () => {
  /** The log as that version wrote it, which had other words for a deadline that passed. */
  const inOldWords = (events: readonly RunEvent[], message: string, details?: object): RunEvent[] =>
    events.map((event) => {
      if (event.type !== "node.failed" && event.type !== "run.failed") return event;
      const error = { code: event.payload.error.code, message, ...(details && { details }) };
      return { ...event, payload: { ...event.payload, error } } as RunEvent;
    });
  const gate = { typeId: "core.approvalGate", config: { timeoutMs: 1000, requiredApprovals: 2 } };
  const wait = { typeId: "core.interrupt", config: { kind: "custom", data: { customKind: "x" }, timeoutMs: 1000 } };

  test.each([
    ["a gate", gate, "Nobody decided gate it in time, so it stays closed.", { nodeId: "it", reason: "timeout" }],
    ["a wait", wait, "Nobody answered node it in time.", undefined],
  ])("in which %s timed out does not diverge, and repeats what was recorded", async (_, node, message, details) => {
    const source = simulate(workflow({ nodes: { it: node, next: "core.noop" }, edges: ["it>next"] })).go();
    expect(source.run).toMatchObject({ status: "failed", error: { code: "interrupt_timeout" } });
    const old = inOldWords(source.events, message, details);
    for (const fromSeq of [0, 2]) {
      const { run, events } = await replayed(hostAfter(old), source.plan, old, fromSeq);
      expect(told(events)).toEqual(told(old));
      expect(run).toMatchObject({ status: "failed", error: { code: "interrupt_timeout", message } });
    }
  });

  test("diverges where the code of a failure is another", async () => {
    const failing = (code: string) => withCode(() => ({ type: "failed", error: { code, message: "no" } }));
    const source = simulate(workflow({ nodes: { say: "test.code" } }), {}, { nodeTypes: failing("one") }).go();
    const { run, events } = await replay(source, failing("two"));
    expect(diverged(events)).toMatchObject([{ payload: { divergencePoint: "node.failed" } }]);
    expect(run).toMatchObject({ error: { code: "two" } });
  });
});

describe("a replay", () => {
  test("is pinned to the versions that its source was pinned to", async () => {
    const versioned = (max: number) =>
      withCode(({ getVersion }) => ({ type: "completed", outputs: { version: getVersion("change-1", 1, max) } }));
    const one = workflow({ nodes: { say: "test.code" } });
    const source = simulate(one, {}, { nodeTypes: versioned(1) }).go();
    const { run, events } = await replay(source, versioned(2));
    expect(told(events)).toEqual(told(source.events));
    expect(run).toMatchObject({ pins: { "change-1": 1 }, outputs: { version: 1 } });
  });

  test("keeps what was in a channel by the times of its source", async () => {
    const slow = workflow({
      nodes: {
        first: { typeId: "core.channelWrite", config: { channelName: "log", value: 1 } },
        nap: { typeId: "core.delay", config: { ms: 7_200_000 } },
        second: { typeId: "core.channelWrite", config: { channelName: "log", value: 2 } },
      },
      edges: ["first>nap", "nap>second"],
      channels: { log: { reducer: "append", ttlMs: 3_600_000 } },
    });
    const source = simulate(slow).go();
    const { run, events } = await replay(source);
    expect(told(events)).toEqual(told(source.events));
    expect(run.channels).toEqual(source.run.channels);
    expect(run.channels["log"]?.entries).toMatchObject([{ value: 2 }]);
  });

  test("takes no time, however long the run was allowed to take", async () => {
    const sleeps = workflow({ nodes: { nap: { typeId: "core.delay", config: { ms: 5000 } } } });
    const source = simulate(sleeps, { configurable: { runTimeoutMs: 6000 } }).go();
    expect(source.run.status).toBe("completed");
    expect(told((await replay(source)).events)).toEqual(told(source.events));
  });

  test("of a run whose time was over says how long it took, not how long anything takes now", async () => {
    const sleeps = workflow({ nodes: { nap: { typeId: "core.delay", config: { ms: 60_000 } } } });
    const source = simulate(sleeps, { configurable: { runTimeoutMs: 6000 } })
      .turn()
      .advance(7777)
      .go();
    expect(source.run).toMatchObject({ status: "failed", error: { code: "run_timeout" } });
    const { events } = await replay(source);
    expect(told(events)).toEqual(told(source.events));
    expect(events.find(({ type }) => type === "cap.breached")).toMatchObject({ payload: { observed: 7777 } });
  });

  test("of a run that is paused now goes on by itself", async () => {
    const naps = workflow({
      nodes: { nap: { typeId: "core.delay", config: { ms: 5000 } }, last: "core.noop" },
      edges: ["nap>last"],
    });
    const paused = simulate(naps)
      .turn()
      .decide((run) => pauseRun(run, { by: "ada", drainPolicy: "immediate" }));
    const { run, events } = await replay(paused);
    expect(run.status).toBe("completed");
    expect(told(events).slice(0, paused.events.length)).toEqual(told(paused.events));
    const draining = simulate(naps)
      .turn()
      .decide((one) => pauseRun(one, { by: "ada", drainPolicy: "drain-current-node" }));
    expect((await replay(draining)).run.status).toBe("completed");
  });

  test("of a run that is no longer there ends, for there is nothing to go by", async () => {
    const source = simulate(workflow({ nodes: { a: "core.noop" } })).go();
    const host = {
      ...hostAfter(source.events),
      store: { logBytes: async () => 0, readEvents: async () => [] },
    } as never;
    const { run } = await replayed(host, source.plan, source.events, 0);
    expect(run).toMatchObject({ status: "failed", error: { code: "replay_source_missing" } });
  });

  test("that begins right before the end says whose end it was", async () => {
    const twoFail = workflow({
      nodes: {
        a: "core.fail",
        skipped: "core.noop",
        handler: "core.noop",
        nap: { typeId: "core.delay", config: { ms: 5 } },
        c: "core.fail",
      },
      edges: ["a>skipped", { from: "a", to: "handler", triggerRule: "all_complete" }, "skipped>handler", "nap>c"],
    });
    const source = simulate(twoFail).go();
    expect(source.events.at(-1)).toMatchObject({ type: "run.failed", payload: { failedNodeId: "c" } });
    const { events } = await replayed(hostAfter(source.events), source.plan, source.events, source.events.length - 1);
    expect(told(events)).toEqual(told(source.events));
  });

  test("can be cancelled where its source was at work, and is over at once", () => {
    const source = simulate(workflow({ nodes: { nap: { typeId: "core.delay", config: { ms: 5 } } } })).turn();
    const from = {
      runId: "run-0",
      fromSeq: 2,
      mode: "replay",
      at: "2026-01-01T00:00:00.000Z",
      sourceVersion: 3,
    } as const;
    const run = { ...source.run, forkedFrom: from, nodes: { nap: { status: "executing", attempt: 0 } as const } };
    expect(cancelRun(run, { by: "ada" }).map(({ type }) => type)).toEqual(["node.cancelled", "run.cancelled"]);
    expect(() => pauseRun(run, { by: "ada", drainPolicy: "immediate" })).toThrow("a replay ends by itself");
  });
});

describe("a replay with expressions that take long", () => {
  const all = Array.from({ length: 40 }, (_, i) => `n${i}`);
  const heavy = workflow({
    nodes: Object.fromEntries(
      all.map((id, i) => [
        id,
        {
          typeId: "core.identity",
          inputs: {
            x: {
              type: "expression" as const,
              expression: `variables.list.filter(a, variables.list.exists(b, b == a + ${i + 1}000.0)).size()`,
            },
          },
        },
      ]),
    ),
  });
  const inputs = { list: Array.from({ length: 120 }, (_, i) => i) };

  test("lets other work come in between while it repeats its source", async () => {
    const source = simulate(heavy, { inputs }).go();
    expect(source.run.error).toBeUndefined();
    const turns = turnsOfOthers();
    const result = await replay(source);
    expect(result.run.status).toBe("completed");
    expect(turns()).toBeGreaterThan(5);
  });

  test("lets other work come in between where its source had not come so far", async () => {
    const source = simulate(heavy, { inputs }).go();
    const [begun] = source.events as [RunEvent];
    const turns = turnsOfOthers();
    const result = await replayed(hostAfter([begun]), source.plan, [begun], 0);
    expect(result.run.status).toBe("completed");
    expect(told(result.events)).toEqual(told(source.events));
    expect(turns()).toBeGreaterThan(5);
  });
});
