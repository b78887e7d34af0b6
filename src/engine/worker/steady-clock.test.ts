import { expect, test } from "vitest";
import { begin, engineOn, register, until } from "../../testing/engine.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { steadyClock } from "./steady-clock.ts";

const HOUR = 3_600_000;

function clocks(startMs = 1_000_000_000_000) {
  let wall = startMs;
  let elapsed = 0;
  const now = steadyClock(
    () => wall,
    () => elapsed,
  );
  return {
    now: () => now() - startMs,
    notBefore: (ms: number) => now.notBefore(startMs + ms),
    pass: (ms: number) => {
      wall += ms;
      elapsed += ms;
    },
    set: (ms: number) => {
      wall += ms;
    },
  };
}

test("the clock follows the wall clock, also when that is set forward", () => {
  const { now, pass, set } = clocks();
  pass(500);
  expect(now()).toBe(500);
  set(HOUR);
  expect(now()).toBe(HOUR + 500);
  pass(10);
  expect(now()).toBe(HOUR + 510);
});

test("the clock goes on when the wall clock is set back, until that has caught up", () => {
  const { now, pass, set } = clocks();
  pass(1000);
  expect(now()).toBe(1000);
  set(-100);
  expect(now()).toBe(1000);
  pass(500);
  expect(now()).toBe(1450);
  pass(500);
  expect(now()).toBe(1900);
  pass(1000);
  expect(now()).toBe(2900);
});

test("the clock never goes back, whatever the wall clock does", () => {
  const { now, pass, set } = clocks();
  let last = now();
  for (const [step, ms] of [-HOUR, 5, -3, 900, HOUR * 24, -HOUR * 48, 0].entries()) {
    set(ms);
    pass(step);
    expect(now()).toBeGreaterThanOrEqual(last);
    last = now();
  }
});

test("the clock starts at what is recorded, and the wall clock catches up with it", () => {
  const { now, pass, notBefore } = clocks();
  notBefore(-5);
  expect(now()).toBe(0);
  notBefore(HOUR);
  expect(now()).toBe(HOUR);
  pass(HOUR);
  expect(now()).toBe(1.9 * HOUR);
  pass(20 * HOUR);
  expect(now()).toBe(21 * HOUR);
});

test("the clock starts with the wall clock where what is recorded is more than a day ahead", () => {
  const { now, notBefore } = clocks();
  notBefore(24 * HOUR + 1);
  expect(now()).toBe(0);
});

const bench = workbench();

test("a run that sleeps wakes although the wall clock was set back by an hour", async () => {
  let set = 0;
  const nowMs = steadyClock(
    () => Date.now() + set,
    () => performance.now(),
  );
  const host = { ...engineOn(bench.store), nowMs };
  const workflowId = await register(host, workflow({ nodes: { wait: { typeId: "core.delay", config: { ms: 150 } } } }));
  const worker = bench.work(host);
  const runId = await begin({ ...host, localWorker: worker }, { workflowId });
  await until(bench.store, runId, (run) => run.nodes["wait"]?.status === "sleeping");
  set = -HOUR;
  expect(await until(bench.store, runId, ended)).toMatchObject({ status: "completed" });
});
