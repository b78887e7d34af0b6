import { describe, expect, test } from "vitest";
import { deadlineMs, wakeAtMs } from "../../../protocol/runs/due-times.ts";
import type { ForkedFrom } from "../../../protocol/runs/forked-from.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import { type Simulation, simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";
import { stamp } from "../stamp.ts";
import { beginBranch, copyHistory } from "./fork-run.ts";

const AT = "2026-06-01T00:00:00.000Z";
const LIMITS = { maxNodeExecutions: 1000 };

function copied({ events }: Simulation, mode: ForkedFrom["mode"], fromSeq = events.length): Run {
  const from = { runId: "run-0", fromSeq, mode, at: AT, sourceVersion: events.length };
  const history = events.slice(0, Math.max(1, fromSeq));
  return copyHistory({ runId: "run-1", from, history, newEventId: () => "evt-1" }).run;
}

function branched(source: Simulation, fromSeq?: number): Run {
  const run = copied(source, "branch", fromSeq);
  const drafts = beginBranch(source.plan, run, {}, LIMITS);
  return stamp(run, drafts, { runId: run.runId, nowMs: Date.parse(AT), newId: () => "evt-2" }).run;
}

describe("a branch", () => {
  const waits = workflow({
    nodes: { nap: { typeId: "core.delay", config: { ms: 5000 } }, gate: "core.approvalGate", done: "core.noop" },
  });

  test("starts over every node that had begun and not ended, and is due at once", () => {
    const run = branched(simulate(waits).turn());
    const again = { status: "interrupted", attempt: -1 };
    expect(run.nodes).toEqual({ done: expect.objectContaining({ status: "completed" }), nap: again, gate: again });
    expect(run.visits).toEqual({ nap: 1, gate: 1 });
    expect(run.interrupts).toEqual({});
    expect(run.status).toBe("running");
    expect(wakeAtMs(run)).toBe(Date.parse(AT));
  });

  test("has as much time as its source had, from when it was forked", () => {
    const source = simulate(waits, { configurable: { runTimeoutMs: 60_000 } }).turn();
    expect(deadlineMs(branched(source))).toBe(Date.parse(AT) + 60_000);
    expect(deadlineMs(copied(source, "replay"))).toBeUndefined();
  });

  test("has the limits of its new options, and never more than the host allows", () => {
    const source = simulate(waits).turn();
    const run = copied(source, "branch");
    const [began] = beginBranch(source.plan, run, { configurable: { recursionLimit: 5000, runTimeoutMs: 7 } }, LIMITS);
    expect(began?.payload).toMatchObject({ limits: { nodeExecutions: 1000, runDurationMs: 7 } });
  });

  test("shows no value of an input that was kept from sight in its source", () => {
    const variables = [{ name: "pin", type: "string", defaultValue: "" }] as const;
    const source = simulate(workflow({ nodes: { gate: "core.approvalGate" }, variables: [...variables] })).turn();
    const run: Run = { ...copied(source, "branch"), sensitive: ["pin"] };
    const [began] = beginBranch(source.plan, run, { inputs: { pin: "4711" } }, LIMITS);
    expect(JSON.stringify(began?.payload)).not.toContain("4711");
    expect(began?.sealed).toMatchObject({ inputs: { pin: "4711" } });
  });

  test("keeps what was decided before it", () => {
    const source = simulate(waits).turn().resolve("gate", { action: "accept" }).turn();
    const run = branched(source);
    expect(run.nodes["gate"]).toMatchObject({ status: "completed" });
    expect(Object.values(run.interrupts)).toMatchObject([{ status: "resolved", inherited: true }]);
  });
});

describe("the first event of a fork", () => {
  test("says sealed where it comes from, whatever else is sealed in it", () => {
    const secret = workflow({
      nodes: { a: "core.noop" },
      variables: [{ name: "password", type: "string", sensitive: true, defaultValue: "hunter-22" }],
    });
    const source = simulate(secret).go();
    const run = copied(source, "replay", 0);
    expect(run.forkedFrom).toMatchObject({ runId: "run-0", mode: "replay", fromSeq: 0 });
    expect(run.variables).toEqual({ password: "hunter-22" });
    expect(run.secrets).toEqual(source.run.secrets);
    expect(run.startedAt).toBe(AT);
  });
});
