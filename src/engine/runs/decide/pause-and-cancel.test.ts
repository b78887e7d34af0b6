import { describe, expect, test } from "vitest";
import { AppError } from "../../../protocol/errors.ts";
import { simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";
import { cancelRun } from "./end-run.ts";
import { pauseRun, resumeRun } from "./pause-run.ts";

const waitThenGo = workflow({
  nodes: { wait: { typeId: "core.delay", config: { ms: 1000 } }, next: "core.noop" },
  edges: ["wait>next"],
});
const sleeping = () => simulate(waitThenGo).turn();
const pause = (drainPolicy: "immediate" | "drain-current-node") => (run: Parameters<typeof pauseRun>[0]) =>
  pauseRun(run, { drainPolicy, by: "ada", reason: "lunch" });
const resume = (run: Parameters<typeof resumeRun>[0]) => resumeRun(run, { by: "ada" });
const cancel = (run: Parameters<typeof cancelRun>[0]) => cancelRun(run, { by: "ada", reason: "enough" });
const codeOf = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, details: error.details };
    throw error;
  }
  return undefined;
};

describe("a run asked to pause after its current node", () => {
  test("lets the node complete before it pauses, and starts no other", () => {
    const run = sleeping().decide(pause("drain-current-node")).go();
    expect(run.story.slice(-2)).toEqual(["node.completed:wait", "run.paused"]);
    expect(run.run.status).toBe("paused");
    expect(run.events.at(-1)?.payload).toEqual({ drainPolicy: "drain-current-node", reason: "lunch" });
  });

  test("goes on to its end when resumed", () => {
    const run = sleeping().decide(pause("drain-current-node")).go().decide(resume).go();
    expect(run.story.slice(-4)).toEqual(["run.resumed", "node.started:next", "node.completed:next", "run.completed"]);
  });

  test("refuses a second pause and says that it drains", () => {
    const run = sleeping().decide(pause("drain-current-node"));
    expect(codeOf(() => run.decide(pause("immediate")))).toMatchObject({
      code: "run_state_conflict",
      details: { runStatus: "paused", draining: true },
    });
  });

  test("can be resumed before the pause takes effect, and then never pauses", () => {
    const run = sleeping().decide(pause("drain-current-node")).decide(resume).go();
    expect(run.run.status).toBe("completed");
    expect(run.story).not.toContain("run.paused");
  });
});

describe("a run paused at once", () => {
  const paused = () => sleeping().decide(pause("immediate"));

  test("gives the attempt under way no end", () => {
    expect(paused().story.slice(-2)).toEqual(["assay.timer.set:wait", "run.paused"]);
  });

  test("starts a fresh attempt when resumed", () => {
    const run = paused().advance(5000).go().decide(resume).go();
    const attempts = run.events.flatMap((event) => (event.type === "node.started" ? [event.payload] : []));
    expect(attempts.filter(({ nodeId }) => nodeId === "wait").map(({ attempt }) => attempt)).toEqual([0, 1]);
    expect(run.run.status).toBe("completed");
  });

  test("stays paused however late it gets", () => {
    expect(paused().advance(1_000_000).turn().run.status).toBe("paused");
  });

  test("refuses a second pause with the time of the first", () => {
    const run = paused();
    expect(codeOf(() => run.decide(pause("immediate")))).toMatchObject({
      code: "run_state_conflict",
      details: { runStatus: "paused", pausedAt: run.run.pausedAt },
    });
  });
});

describe("a run that is not paused", () => {
  test("refuses to be resumed", () => {
    expect(codeOf(() => sleeping().decide(resume))).toMatchObject({
      code: "run_state_conflict",
      details: { runStatus: "running" },
    });
  });
});

describe("a run that has ended", () => {
  const ended = () => simulate(waitThenGo).go();

  test.each([
    ["pause", pause("immediate")],
    ["resume", resume],
  ])("refuses %s and names its status", (_, command) => {
    expect(codeOf(() => ended().decide(command))).toMatchObject({
      code: "run_terminal",
      details: { runStatus: "completed" },
    });
  });

  test("takes a cancellation without changing", () => {
    const run = ended();
    expect(run.decide(cancel).events).toHaveLength(run.events.length);
    expect(run.run.status).toBe("completed");
  });
});

describe("a run that sleeps", () => {
  test("is cancelled on the spot: its node first, then the run, as the last event", () => {
    const run = sleeping().decide(cancel);
    expect(run.story.slice(-2)).toEqual(["node.cancelled:wait", "run.cancelled"]);
    expect(run.events.at(-1)?.payload).toEqual({ cancelledBy: "ada", reason: "enough" });
    expect(run.run.status).toBe("cancelled");
  });

  test("does not wake again after it was cancelled", () => {
    const run = sleeping().decide(cancel).advance(10_000);
    const before = run.events.length;
    expect(run.turn().events).toHaveLength(before);
  });
});

describe("a run paused at once while a node waits to be tried again", () => {
  test("loses none of its attempts", () => {
    const retrying = workflow({
      nodes: { flaky: { typeId: "core.fail", config: { retryable: true } } },
      settings: { maxRetries: 2 },
    });
    const run = simulate(retrying).turn().decide(pause("immediate")).decide(resume).go();
    const attempts = run.events.flatMap((event) => (event.type === "node.started" ? [event.payload.attempt] : []));
    expect(attempts).toEqual([0, 1, 2]);
  });
});
