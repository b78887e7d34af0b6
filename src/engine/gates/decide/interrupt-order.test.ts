import { describe, expect, test } from "vitest";
import { EVENTS } from "../../../protocol/events.ts";
import { simulate } from "../../../testing/simulate.ts";
import { payloadsOf, withNode } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";
import { pauseRun, resumeRun } from "../../runs/decide/pause-run.ts";

const gate = (config: Readonly<Record<string, unknown>> = {}) =>
  workflow({ nodes: { gate: { typeId: "core.approvalGate", config }, next: "core.noop" }, edges: ["gate>next"] });
const governed = workflow({
  nodes: { gate: { typeId: "core.openwop.governance.approvalGate", config: { requiredRole: "reviewer" } } },
});
const questions = [{ id: "colour", question: "Which colour?" }];
const asking = workflow({ nodes: { ask: { typeId: "core.clarificationGate", config: { questions } } } });

describe("a node that asks", () => {
  test("is started, asks, has an older twin and is suspended, in one turn and in this order", () => {
    const run = simulate(gate()).turn();
    expect(run.story).toEqual([
      "run.started",
      "node.started:gate",
      "interrupt.requested:gate",
      "approval.requested:gate",
      "node.suspended:gate",
    ]);
    expect(run.run.status).toBe("waiting-approval");
    expect(run.run.nodes["gate"]).toMatchObject({ status: "suspended" });
  });

  test("says with the request who and what it is", () => {
    const run = simulate(gate({ title: "Ship it?" })).turn();
    const interruptId = Object.keys(run.run.interrupts)[0];
    const requested = payloadsOf(run, "interrupt.requested")[0];
    expect(requested).toMatchObject({
      kind: "approval",
      key: "gate:0",
      runId: run.run.runId,
      nodeId: "gate",
      interruptId,
      requestedAt: run.events[0]?.timestamp,
      data: { artifactId: "gate", artifactType: "approval", title: "Ship it?", actions: ["accept", "reject"] },
    });
    expect(payloadsOf(run, "node.suspended")[0]).toEqual({
      nodeId: "gate",
      interruptId,
      kind: "approval",
      key: "gate:0",
    });
  });

  test("is waited for by nobody: a run without a deadline has no due time", () => {
    const run = simulate(gate()).go();
    const before = run.events.length;
    expect(run.advance(1_000_000_000).go().events).toHaveLength(before);
  });

  test("goes on in the turn after its answer, with everything between in one decision", () => {
    const run = simulate(gate()).turn().resolve("gate", { action: "accept" });
    expect(run.story.slice(5)).toEqual([
      "assay.vote.recorded:gate",
      "approval.received:gate",
      "interrupt.resolved:gate",
      "node.resumed:gate",
    ]);
    expect(run.run.status).toBe("running");
    expect(run.go().story.slice(9)).toEqual([
      "node.completed:gate",
      "node.started:next",
      "node.completed:next",
      "run.completed",
    ]);
  });
});

describe("the older twin of a request", () => {
  test("calls edit-accept edit, and everything else by its name", () => {
    const actions = ["accept", "reject", "refine", "edit-accept", "ask"];
    const run = simulate(gate({ actions })).turn();
    expect(payloadsOf(run, "approval.requested")[0]).toMatchObject({
      actions: ["accept", "reject", "refine", "edit", "ask"],
    });
    expect(payloadsOf(run, "interrupt.requested")[0]).toMatchObject({ data: { actions } });
  });

  test("is there for questions, with the questions", () => {
    const run = simulate(asking).turn();
    expect(run.story.slice(2)).toEqual([
      "interrupt.requested:ask",
      "clarification.requested:ask",
      "node.suspended:ask",
    ]);
    expect(payloadsOf(run, "clarification.requested")[0]).toMatchObject({ questions });
    expect(run.run.status).toBe("waiting-input");
  });

  test("is not there for a governed gate, neither when it asks nor when it is decided", () => {
    const run = simulate(governed).turn().resolve("gate", { decision: "granted" }).go();
    expect(run.run.status).toBe("completed");
    expect(run.story.filter((one) => /approval\.(requested|received)/.test(one))).toEqual([]);
  });
});

describe("a key", () => {
  test("is not asked again by an attempt that begins after a pause at once", () => {
    const both = workflow({
      nodes: { gate: "core.approvalGate", wait: { typeId: "core.delay", config: { ms: 1000 } } },
    });
    const run = simulate(both).turn().resolve("gate", { action: "accept" });
    run.decide((state) => pauseRun(state, { by: "ada", drainPolicy: "immediate" }));
    run.decide((state) => resumeRun(state, { by: "ada" })).go();
    const attempts = run.events.flatMap((event) => (event.type === "node.started" ? [event.payload] : []));
    expect(attempts.filter(({ nodeId }) => nodeId === "gate").map(({ attempt }) => attempt)).toEqual([0, 1]);
    expect(run.story.filter((one) => one === "interrupt.requested:gate")).toHaveLength(1);
    expect(run.run.status).toBe("completed");
  });

  test("is not asked again by a retry: the answer stands", () => {
    let calls = 0;
    const nodeTypes = withNode(({ interrupt }) => {
      const value = interrupt({ kind: "custom", data: { customKind: "number" } });
      calls += 1;
      if (calls === 1) return { type: "failed", error: { code: "down", message: "Try again.", retryable: true } };
      return { type: "completed", outputs: { value } };
    });
    const flaky = workflow({ nodes: { node: "test.node" }, settings: { maxRetries: 1 } });
    const run = simulate(flaky, {}, { nodeTypes }).turn().resolve("node", 42).go();
    expect(run.story.filter((one) => one === "interrupt.requested:node")).toHaveLength(1);
    expect(run.run.outputs).toEqual({ value: 42 });
  });

  test("belongs to the node that asked it: another node does not pass with its answer", () => {
    const nodeTypes = withNode(({ interrupt }) => ({
      type: "completed",
      outputs: { value: interrupt({ kind: "custom", key: "shared", data: { customKind: "x" } }) },
    }));
    const inTurn = workflow({ nodes: { first: "test.node", second: "test.node" }, edges: ["first>second"] });
    const run = simulate(inTurn, {}, { nodeTypes }).turn().resolve("first", "yes").go();
    expect(run.run).toMatchObject({ status: "failed", error: { code: "interrupt_invalid" } });
    expect(run.run.nodes["second"]?.outputs).toBeUndefined();

    const atOnce = workflow({ nodes: { first: "test.node", second: "test.node" } });
    expect(simulate(atOnce, {}, { nodeTypes }).go().run).toMatchObject({
      status: "failed",
      error: { code: "interrupt_invalid" },
    });
  });

  test("is another one for another thing that the same node asks", () => {
    const nodeTypes = withNode(({ interrupt }) => {
      const first = interrupt({ kind: "custom", key: "one", data: { customKind: "a" } });
      const second = interrupt({ kind: "clarification", key: "two", data: { questions } });
      return { type: "completed", outputs: { first, second } };
    });
    const run = simulate(workflow({ nodes: { node: "test.node" } }), {}, { nodeTypes }).turn();
    expect(run.run.status).toBe("waiting-input");
    run.resolve("node", { any: "thing" }).turn();
    expect(Object.values(run.run.interrupts).map(({ key, status }) => [key, status])).toEqual([
      ["one", "resolved"],
      ["two", "open"],
    ]);
    run.resolve("node", { answers: { colour: "red" } }).go();
    expect(run.run.outputs).toEqual({ first: { any: "thing" }, second: { answers: { colour: "red" } } });
  });
});

test("every event of a gate is in the catalogue", () => {
  const run = simulate(gate()).turn().resolve("gate", { action: "accept" }).go();
  for (const { type } of run.events) expect(EVENTS).toHaveProperty([type]);
});
