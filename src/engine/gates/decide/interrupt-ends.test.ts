import { describe, expect, test } from "vitest";
import type { Run } from "../../../protocol/runs/run.ts";
import { ANA, actionsOf, BEN, codeOf, refusalOf, somebody, TOKEN } from "../../../testing/judges.ts";
import { type Simulation, simulate } from "../../../testing/simulate.ts";
import { interruptOf } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";
import { cancelRun } from "../../runs/decide/end-run.ts";
import { type ResolveInterrupt, resolveInterrupt } from "./resolve-interrupt.ts";

const ACCEPT = { action: "accept" };
const gateWith = (config: Readonly<Record<string, unknown>> = {}) =>
  workflow({
    nodes: { gate: { typeId: "core.approvalGate", config }, next: "core.noop" },
    edges: ["gate>next"],
  });
const waiting = (config?: Readonly<Record<string, unknown>>) => simulate(gateWith(config)).turn();
const cancel = (run: Run) => cancelRun(run, { by: "ada" });
const child = (run: Run): Run => ({
  ...run,
  parent: { runId: "run-above", nodeId: "sub", rootRunId: "run-above", depth: 1 },
});

/** What an answer to a run in this state is refused with. */
const codeAt = (run: Run, by = ANA, of: ResolveInterrupt["of"] = { nodeId: "gate" }) =>
  codeOf(() => {
    const nowMs = Date.parse(run.updatedAt);
    const { refusal } = resolveInterrupt(run, { of, value: ACCEPT, answerer: by, nowMs });
    if (refusal !== undefined) throw refusal;
  });

describe("an answer that comes to nothing", () => {
  test("names a node that does not exist, one that never asked, or one that has not asked yet", () => {
    const run = waiting();
    for (const nodeId of ["nowhere", "next", "__proto__", "constructor"]) {
      expect(codeAt(run.run, ANA, { nodeId })).toBe("interrupt_not_found");
    }
    expect(codeAt(simulate(gateWith()).run)).toBe("interrupt_not_found");
    expect(codeAt(run.run, TOKEN, { interruptId: "int-of-another-run" })).toBe("interrupt_not_found");
    expect(codeAt(run.run, TOKEN, { interruptId: "toString" })).toBe("interrupt_not_found");
  });

  test.each([
    ["has been decided", (run: Simulation) => run.resolve("gate", ACCEPT), "interrupt_already_resolved"],
    [
      "ended with its completed run",
      (run: Simulation) => run.resolve("gate", ACCEPT).go(),
      "interrupt_already_resolved",
    ],
    ["was rejected", (run: Simulation) => run.resolve("gate", { action: "reject" }).go(), "interrupt_already_resolved"],
  ])("finds an interrupt that %s", (_, end, code) => {
    const { run } = end(waiting());
    expect(codeAt(run)).toBe(code);
    expect(codeAt(run, TOKEN)).toBe(code);
    expect(codeAt(child(run))).toBe(code);
  });

  test("finds a run that was cancelled while it waited", () => {
    const { run } = waiting().decide(cancel);
    expect(codeAt(run)).toBe("interrupt_cancelled");
    expect(codeAt(run, TOKEN)).toBe("interrupt_already_resolved");
  });

  test("finds a run that is about to be cancelled", () => {
    const { run } = waiting();
    const cancelling: Run = { ...run, status: "cancelling", cancel: { by: "ada" } };
    expect(codeAt(cancelling)).toBe("interrupt_cancelled");
    expect(codeAt(cancelling, TOKEN)).toBe("interrupt_already_resolved");
    expect(codeAt(child(cancelling))).toBe("interrupt_gone");
  });

  test("finds a cancelled run that has a parent, whoever cancelled it", () => {
    const { run } = waiting().decide(cancel);
    expect(codeAt(child(run))).toBe("interrupt_gone");
    expect(codeAt(child(run), TOKEN)).toBe("interrupt_gone");
  });

  test("finds a run that failed elsewhere", () => {
    const nodes = {
      gate: "core.approvalGate",
      wait: { typeId: "core.delay", config: { ms: 10 } },
      broken: "core.fail",
    };
    const { run } = simulate(workflow({ nodes, edges: ["wait>broken"] })).go();
    expect(run.status).toBe("failed");
    expect(Object.values(run.interrupts)[0]?.status).toBe("cancelled");
    expect(codeAt(run)).toBe("interrupt_already_resolved");
  });
});

describe("the end of a run", () => {
  test("closes its interrupt, and cancels the node before the run", () => {
    const run = waiting().decide(cancel);
    expect(run.story.slice(-2)).toEqual(["node.cancelled:gate", "run.cancelled"]);
    expect(interruptOf(run)).toMatchObject({ status: "cancelled", closedAt: run.events.at(-1)?.timestamp });
    expect(interruptOf(run)).not.toHaveProperty("outcome");
  });

  test("comes while an answered node has not gone on yet: it does not go on then", () => {
    const run = waiting().resolve("gate", ACCEPT).decide(cancel);
    expect(run.run.status).toBe("cancelled");
    expect(run.go().story).not.toContain("node.started:next");
  });
});

describe("an answer after the deadline", () => {
  const late = (config: object = {}) => waiting({ timeoutMs: 1000, ...config }).advance(1000);

  test("is refused, and ends the interrupt by time", () => {
    const run = late();
    expect(refusalOf(() => run.resolve("gate", ACCEPT))).toMatchObject({
      code: "interrupt_already_resolved",
      details: { expiredAt: new Date(interruptOf(run).deadlineMs ?? 0).toISOString() },
    });
    expect(run.story.slice(-3)).toEqual(["approval.received:gate", "interrupt.resolved:gate", "node.resumed:gate"]);
    expect(run.events.at(-3)?.payload).toEqual({
      nodeId: "gate",
      action: "timeout",
      decidedAt: run.events.at(-1)?.timestamp,
    });
    expect(interruptOf(run)).toMatchObject({ status: "expired", outcome: "rejected", reason: "timeout", votes: [] });
    expect(actionsOf(run.audit)).toEqual(["interrupt.timed_out"]);
    expect(run.go().run).toMatchObject({ status: "failed", error: { code: "interrupt_timeout" } });
  });

  test("is told so once more the second time, and nothing is written again", () => {
    const run = late();
    codeOf(() => run.resolve("gate", ACCEPT));
    const before = run.events.length;
    expect(codeOf(() => run.resolve("gate", ACCEPT))).toBe("interrupt_already_resolved");
    expect(codeOf(() => run.resolve("gate", ACCEPT, TOKEN))).toBe("interrupt_expired");
    expect(run.events).toHaveLength(before);
  });

  test("by a token says that it expired", () => {
    const run = late();
    expect(codeOf(() => run.resolve("gate", ACCEPT, TOKEN))).toBe("interrupt_expired");
    expect(interruptOf(run).status).toBe("expired");
  });

  test.each([
    ["does not make sense", { action: "nonsense" }, ANA],
    ["comes from somebody who may not decide", ACCEPT, BEN],
    ["rejects", { action: "reject" }, ANA],
  ])("ends it by time whatever it is: it %s", (_, value, by) => {
    const run = late({ approversList: ["ana"] });
    expect(codeOf(() => run.resolve("gate", value, by))).toBe("interrupt_already_resolved");
    expect(interruptOf(run)).toMatchObject({ status: "expired", reason: "timeout" });
    expect(run.story).not.toContain("authorization.decided:gate");
  });

  test("is in time one millisecond earlier", () => {
    const run = waiting({ timeoutMs: 1000 }).advance(999).resolve("gate", ACCEPT);
    expect(run.go().run.status).toBe("completed");
  });

  test("of anything but an approval is a timeout, with no older twin", () => {
    const data = { kind: "custom", data: { customKind: "x" }, timeoutMs: 1000 };
    const run = simulate(workflow({ nodes: { gate: { typeId: "core.interrupt", config: data } } })).turn();
    expect(codeOf(() => run.advance(1000).resolve("gate", 1))).toBe("interrupt_already_resolved");
    expect(interruptOf(run)).toMatchObject({ status: "expired", outcome: "timeout" });
    expect(run.go().run.error?.code).toBe("interrupt_timeout");
  });
});

describe("a gate without a time limit of its own", () => {
  const governed = workflow({
    nodes: { gate: { typeId: "core.openwop.governance.approvalGate", config: { requiredRole: "reviewer" } } },
  });
  const patient = workflow({
    nodes: { gate: { typeId: "core.clarificationGate", config: { questions: [{ id: "a", question: "A?" }] } } },
  });

  test("takes that of the host, plain or governed, and closes", () => {
    for (const definition of [gateWith(), governed, gateWith({ timeoutMs: 0 })]) {
      const run = simulate(definition, {}, { gateTimeoutMs: 5000 }).turn().advance(4999).turn();
      expect(run.run.status).toBe("waiting-approval");
      run.advance(1).turn();
      expect(run.run.status).toBe("failed");
      expect(interruptOf(run)).toMatchObject({ status: "expired", outcome: "rejected" });
    }
  });

  test("keeps its own where it has one", () => {
    const run = simulate(gateWith({ timeoutMs: 60_000 }), {}, { gateTimeoutMs: 5000 }).turn();
    expect(run.advance(59_999).turn().run.status).toBe("waiting-approval");
  });

  test("waits for ever where the host has none, and questions always do", () => {
    for (const run of [simulate(governed), simulate(patient, {}, { gateTimeoutMs: 1 })]) {
      expect(
        run
          .turn()
          .advance(10 ** 12)
          .turn().run.status,
      ).toMatch(/^waiting-/);
      expect(interruptOf(run).deadlineMs).toBeUndefined();
    }
  });
});

test("somebody who may not decide ends nothing that is in time", () => {
  const run = waiting({ timeoutMs: 1000, approversList: ["ana"] }).advance(999);
  expect(codeOf(() => run.resolve("gate", ACCEPT, somebody("nobody")))).toBe("forbidden");
  expect(interruptOf(run).status).toBe("open");
});
