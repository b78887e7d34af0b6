import { describe, expect, test } from "vitest";
import type { Run } from "../../../protocol/runs/run.ts";
import { codeOf } from "../../../testing/judges.ts";
import { simulate } from "../../../testing/simulate.ts";
import { interruptOf, withNode } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";
import { pauseRun, resumeRun } from "../../runs/decide/pause-run.ts";

const pause = (drainPolicy: "immediate" | "drain-current-node") => (run: Run) =>
  pauseRun(run, { by: "ada", drainPolicy });
const resume = (run: Run) => resumeRun(run, { by: "ada" });

/** Sleeps, then asks, in one attempt. */
const nodeTypes = withNode(({ slept, interrupt, run }) => {
  if (!slept && Object.keys(run.interrupts).length === 0) return { type: "sleep", forMs: 1000 };
  return { type: "completed", outputs: { value: interrupt({ kind: "custom", data: { customKind: "x" } }) } };
});
const sleeper = workflow({ nodes: { node: "test.node", next: "core.noop" }, edges: ["node>next"] });
const gated = workflow({ nodes: { gate: "core.approvalGate", wait: { typeId: "core.delay", config: { ms: 1000 } } } });

describe("a run that waits for an answer", () => {
  test.each(["immediate", "drain-current-node"] as const)(
    "cannot be paused (%s): that would cover what is asked",
    (policy) => {
      const run = simulate(gated).turn();
      expect(codeOf(() => run.decide(pause(policy)))).toBe("run_state_conflict");
      expect(run.run.status).toBe("waiting-approval");
      expect(run.resolve("gate", { action: "accept" }).go().run.status).toBe("completed");
    },
  );
});

describe("a run that was to pause when its node began to wait", () => {
  const asking = () =>
    simulate(sleeper, {}, { nodeTypes }).turn().decide(pause("drain-current-node")).advance(1000).turn();

  test("shows that it waits, and is not paused over the question", () => {
    const run = asking();
    expect(run.run.status).toBe("waiting-input");
    expect(run.advance(100_000).turn().story).not.toContain("run.paused");
    expect(interruptOf(run).status).toBe("open");
  });

  test("pauses once it has its answer and its node is done, before the next", () => {
    const run = asking().resolve("node", 1).go();
    expect(run.story.slice(-2)).toEqual(["node.completed:node", "run.paused"]);
    expect(run.decide(resume).go().run.status).toBe("completed");
  });

  test("goes on without a pause when it is resumed before that", () => {
    const run = asking().decide(resume).resolve("node", 1).go();
    expect(run.run.status).toBe("completed");
    expect(run.story).not.toContain("run.paused");
  });
});
