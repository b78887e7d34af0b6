import { describe, expect, test } from "vitest";
import type { Run } from "../../../protocol/runs/run.ts";
import { codeOf } from "../../../testing/judges.ts";
import { type Simulation, simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";
import { cancelRun } from "../../runs/decide/end-run.ts";

const ask = { typeId: "core.clarificationGate", config: { questions: [{ id: "q", question: "Q?" }] } };
const pay = {
  typeId: "core.interrupt",
  config: { kind: "external-event", data: { eventType: "paid", correlation: { order: 1 } } },
};
const ANSWERS: Readonly<Record<string, unknown>> = {
  gate: { action: "accept" },
  ask: { answers: { q: 1 } },
  pay: { order: 1 },
};

/** Three branches that each ask for something else, and what joins them. */
const three = workflow({
  nodes: { gate: "core.approvalGate", ask, pay, join: "core.noop" },
  edges: ["gate>join", "ask>join", "pay>join"],
});
const waiting = () => simulate(three).turn();
const cancel = (run: Run) => cancelRun(run, { by: "ada" });
const statuses = ({ run }: Simulation) =>
  Object.fromEntries(Object.values(run.interrupts).map(({ nodeId, status }) => [nodeId, status]));

describe("a run that waits for several things at once", () => {
  test("asks for all of them in one turn, each with its own id", () => {
    const run = waiting();
    expect(statuses(run)).toEqual({ gate: "open", ask: "open", pay: "open" });
    expect(new Set(Object.keys(run.run.interrupts)).size).toBe(3);
  });

  test("shows the status of the oldest that is open", () => {
    const run = waiting();
    const seen = [run.run.status];
    for (const nodeId of ["gate", "ask", "pay"]) seen.push(run.resolve(nodeId, ANSWERS[nodeId]).turn().run.status);
    expect(seen).toEqual(["waiting-approval", "waiting-input", "waiting-external", "completed"]);
  });

  test.each([
    [["gate", "ask", "pay"]],
    [["gate", "pay", "ask"]],
    [["ask", "gate", "pay"]],
    [["ask", "pay", "gate"]],
    [["pay", "gate", "ask"]],
    [["pay", "ask", "gate"]],
  ])("ends when all are answered, in whatever order: %j", (order) => {
    const run = waiting();
    for (const [n, nodeId] of order.entries()) {
      expect(run.run.nodes["join"]).toBeUndefined();
      run.resolve(nodeId, ANSWERS[nodeId]);
      // Answers may come together or apart.
      if (n % 2 === 0) run.turn();
    }
    expect(run.go().run.status).toBe("completed");
    expect(run.run.nodes["join"]?.status).toBe("completed");
  });

  test("takes an answer for the node that it names, and no other", () => {
    const run = waiting();
    expect(codeOf(() => run.resolve("ask", ANSWERS["gate"]))).toBe("validation_error");
    expect(codeOf(() => run.resolve("pay", ANSWERS["gate"]))).toBe("correlation_mismatch");
    run.resolve("gate", ANSWERS["gate"]);
    expect(statuses(run)).toEqual({ gate: "resolved", ask: "open", pay: "open" });
    expect(codeOf(() => run.resolve("gate", ANSWERS["gate"]))).toBe("interrupt_already_resolved");
  });

  test("closes them all when it is cancelled", () => {
    const run = waiting().resolve("ask", ANSWERS["ask"]).decide(cancel);
    expect(statuses(run)).toEqual({ gate: "cancelled", ask: "resolved", pay: "cancelled" });
    expect(run.story.slice(-4)).toEqual([
      "node.cancelled:gate",
      "node.cancelled:ask",
      "node.cancelled:pay",
      "run.cancelled",
    ]);
  });

  test("closes them all when one of them fails it", () => {
    const run = waiting().resolve("gate", { action: "reject" }).turn();
    expect(run.run.status).toBe("failed");
    expect(statuses(run)).toEqual({ gate: "resolved", ask: "cancelled", pay: "cancelled" });
    expect(codeOf(() => run.resolve("ask", ANSWERS["ask"]))).toBe("interrupt_already_resolved");
  });

  test("closes them all when its own time is over", () => {
    const limited = simulate(three, { configurable: { runTimeoutMs: 5000 } }).go();
    expect(limited.run).toMatchObject({ status: "failed", error: { code: "run_timeout" } });
    expect(statuses(limited)).toEqual({ gate: "cancelled", ask: "cancelled", pay: "cancelled" });
  });

  test("ends each by its own deadline", () => {
    const gate = (timeoutMs: number) => ({
      typeId: "core.openwop.governance.approvalGate",
      config: { requiredRole: "reviewer", timeoutSec: timeoutMs / 1000 },
    });
    const handled = { triggerRule: "any_failed" as const };
    const run = simulate(
      workflow({
        nodes: { soon: gate(1000), later: gate(5000), a: "core.noop", b: "core.noop" },
        edges: [
          { from: "soon", to: "a", ...handled },
          { from: "later", to: "b", ...handled },
        ],
      }),
    ).turn();
    expect(statuses(run.advance(1000).turn())).toEqual({ soon: "expired", later: "open" });
    expect(run.run.nodes["a"]?.status).toBe("completed");
    expect(statuses(run.advance(4000).turn())).toEqual({ soon: "expired", later: "expired" });
    expect(run.run.status).toBe("completed");
  });
});

describe("the other branches of a run that waits", () => {
  const wait = { typeId: "core.delay", config: { ms: 1000 } };

  test("go on: a timer fires, and what follows it runs", () => {
    const branches = workflow({
      nodes: { gate: "core.approvalGate", wait, after: "core.noop" },
      edges: ["wait>after"],
    });
    const run = simulate(branches).go();
    expect(run.run.nodes["after"]?.status).toBe("completed");
    expect(run.run.status).toBe("waiting-approval");
    expect(run.resolve("gate", ANSWERS["gate"]).go().run.status).toBe("completed");
  });

  test("go on to ask for something themselves", () => {
    const branches = workflow({ nodes: { gate: "core.approvalGate", wait, ask }, edges: ["wait>ask"] });
    const run = simulate(branches).go();
    expect(statuses(run)).toEqual({ gate: "open", ask: "open" });
    run.resolve("gate", ANSWERS["gate"]).go();
    expect(run.run.status).toBe("waiting-input");
    expect(run.resolve("ask", ANSWERS["ask"]).go().run.status).toBe("completed");
  });

  test("do not wake it before its time: it sleeps until the timer and then for ever", () => {
    const run = simulate(workflow({ nodes: { gate: "core.approvalGate", wait } })).turn();
    const before = run.events.length;
    expect(run.turn().advance(999).turn().events).toHaveLength(before);
    expect(run.advance(1).turn().events.length).toBeGreaterThan(before);
  });
});
