import { describe, expect, test } from "vitest";
import { simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";

const chain = workflow({
  nodes: { n1: "core.noop", n2: "core.noop", n3: "core.noop", n4: "core.noop" },
  edges: ["n1>n2", "n2>n3", "n3>n4"],
});

describe("a run with a recursion limit", () => {
  const run = simulate(chain, { configurable: { recursionLimit: 2 } }).go();

  test("fails before it executes one node too many", () => {
    expect(run.run.error?.code).toBe("recursion_limit_exceeded");
    expect(run.story.filter((line) => line.startsWith("node.started"))).toEqual(["node.started:n1", "node.started:n2"]);
  });

  test("records the breach with the number observed", () => {
    const breach = run.events.find((event) => event.type === "cap.breached");
    expect(breach?.payload).toEqual({ kind: "node-executions", limit: 2, observed: 3, nodeId: "n3" });
  });

  test("cannot raise the host's own limit", () => {
    const bounded = simulate(chain, { configurable: { recursionLimit: 100 } }, { maxNodeExecutions: 3 }).go();
    expect(bounded.run.error?.code).toBe("recursion_limit_exceeded");
  });
});

describe("a run with a time limit", () => {
  const sleepy = workflow({ nodes: { wait: { typeId: "core.delay", config: { ms: 60_000 } } } });

  test("fails when it is over, though its node is still asleep", () => {
    const run = simulate(sleepy, { configurable: { runTimeoutMs: 1000 } }).go();
    expect(run.run.error?.code).toBe("run_timeout");
    expect(run.story.slice(-3)).toEqual(["cap.breached", "node.cancelled:wait", "run.failed"]);
    const breach = run.events.find((event) => event.type === "cap.breached");
    expect(breach?.payload).toMatchObject({ limit: 1000, observed: 1001 });
  });

  test("takes the workflow's own timeout when that is shorter", () => {
    const run = simulate({ ...sleepy, settings: { timeout: 500 } }, { configurable: { runTimeoutMs: 1000 } }).go();
    expect(run.run.limits.runDurationMs).toBe(500);
  });

  test("completes when the node wakes in time", () => {
    const run = simulate(sleepy, { configurable: { runTimeoutMs: 120_000 } }).go();
    expect(run.run.status).toBe("completed");
  });
});

describe("a node that requires a capability nobody provides", () => {
  const run = simulate(workflow({ nodes: { n1: "conformance.requiresMissing" } })).go();

  test("is never started, and the run fails naming the capability", () => {
    expect(run.story).toEqual(["run.started", "node.failed:n1", "run.failed"]);
    expect(run.run.error?.code).toBe("capability_not_provided");
    expect(run.run.error?.message).toContain("conformance.never-provided");
  });
});

describe("a run whose results pile up", () => {
  test("fails before it is larger than the host can keep", () => {
    const ids = Array.from({ length: 40 }, (_, i) => `n${i}`);
    const copy = {
      typeId: "core.identity",
      inputs: { text: { type: "expression" as const, expression: "variables.text + variables.text" } },
    };
    const run = simulate(
      workflow({
        nodes: Object.fromEntries(ids.map((id) => [id, copy])),
        edges: ids.slice(1).map((id, i) => `${ids[i]}>${id}`),
        variables: [{ name: "text", type: "string", defaultValue: "x".repeat(100_000) }],
      }),
    ).turn();
    expect(run.run.error).toMatchObject({ code: "run_too_large" });
    expect(run.events.at(-1)?.type).toBe("run.failed");
  });

  test("fails before its gates show more than the host can keep", () => {
    const gate = {
      typeId: "core.approvalGate",
      inputs: { artifact: { type: "expression" as const, expression: "variables.text + variables.text" } },
    };
    const ids = Array.from({ length: 40 }, (_, i) => `gate-${i}`);
    const run = simulate(
      workflow({
        nodes: Object.fromEntries(ids.map((id) => [id, gate])),
        variables: [{ name: "text", type: "string", defaultValue: "x".repeat(1_000_000) }],
      }),
    ).turn();
    expect(run.run.error).toMatchObject({ code: "run_too_large" });
    expect(run.events.at(-1)?.type).toBe("run.failed");
  });
});
