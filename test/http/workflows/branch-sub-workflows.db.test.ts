import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Run } from "../../../src/protocol/runs/run.ts";
import { withoutState } from "../../../src/protocol/runs/run-head.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { ACCEPT, branchBench, gate, OTHER_TEXT, TEXT } from "../../../src/testing/branch-bench.ts";
import { ForkHost } from "../../../src/testing/fork-host.ts";
import { expectAllRebuilt } from "../../../src/testing/rebuilt.ts";

describe.each(HTTP_STORES)("the gates in sub-workflows of a branch on %s", (_, open) => {
  let forks: ForkHost;
  let drop: () => Promise<void>;
  const { register, branch, waits, callsOf } = branchBench(() => forks);

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    forks = await ForkHost.start(opened.store);
    const child = (workflowId: string) => ({ typeId: "core.subWorkflow", config: { workflowId } }) as never;
    await register({ id: "inner", nodes: { gate: gate(), done: "core.noop" }, edges: ["gate>done"] });
    await register({ id: "inner-holds", nodes: { gate: gate({ approvalHoldsForBranches: true }) } });
    await register({ id: "inner-acts", nodes: { gate: gate(), act: "test.counted" }, edges: ["gate>act"] });
    await register({ id: "middle", nodes: { below: child("inner") } });
    const nodes = (workflowId: string) => ({ child: child(workflowId), count: "test.counted", last: "core.noop" });
    const edges = ["child>count", "count>last"];
    await register({ id: "above-inner", nodes: nodes("inner"), edges });
    await register({ id: "above-middle", nodes: nodes("middle"), edges });
    await register({ id: "above-holds", nodes: nodes("inner-holds"), edges });
    await register({
      id: "above-acts",
      nodes: { child: child("inner-acts"), last: "core.noop" },
      edges: ["child>last"],
    });
    await register({ id: "above-quiet", nodes: { child: child("inner"), last: "core.noop" }, edges: ["child>last"] });
    await register({
      id: "before-acts",
      nodes: { gate: gate(), child: child("inner-acts") },
      edges: ["gate>child"],
    });
    const flag = (name: string, defaultValue = false) => ({ name, type: "boolean", defaultValue }) as const;
    const when = (type: "truthy" | "falsy", left: string) => ({ condition: { type, left } }) as const;
    const mapped = (workflowId: string, config: object) =>
      ({ typeId: "core.subWorkflow", config: { workflowId, ...config } }) as never;
    await register({ id: "marks", nodes: { done: "core.noop" }, variables: [flag("mark", true)] });
    await register({
      id: "inner-unless",
      nodes: { start: "core.noop", gate: gate(), done: "core.noop" },
      edges: [
        { from: "start", to: "gate", ...when("falsy", "variables.mark") },
        { from: "start", to: "done", triggerRule: "none_failed" },
        { from: "gate", to: "done", triggerRule: "none_failed" },
      ],
      variables: [TEXT, flag("mark"), flag("approved", true)],
    });
    await register({
      id: "beside-acts",
      nodes: {
        child: mapped("inner-unless", { inputMapping: { mark: "mark" }, outputMapping: { approved: "approved" } }),
        mark: mapped("marks", { outputMapping: { mark: "mark" } }),
        poll: "core.noop",
        nap: { typeId: "core.delay", config: { ms: 50 } },
        count: "test.counted",
      },
      edges: [
        "poll>nap",
        { from: "nap", to: "count", ...when("truthy", "variables.approved") },
        { from: "nap", to: "poll", ...when("falsy", "variables.approved") },
      ],
      variables: [flag("mark"), flag("approved")],
      settings: { maxLoopbackIterations: 1000 },
    });
  });

  afterAll(async () => {
    await expectAllRebuilt(forks.host.store);
    await forks.host.close();
    await drop();
  });

  /** The run below this one that waits, however deep. */
  async function waitingBelow(runId: string): Promise<string> {
    const { children, interrupts } = await waits(runId);
    if (Object.values(interrupts).some(({ status }) => status === "open")) return runId;
    const [child = ""] = Object.entries(children).find(([, { status }]) => status.startsWith("waiting-")) ?? [];
    return waitingBelow(child);
  }
  async function through(id: string): Promise<string> {
    const source = await forks.gates.waiting(id);
    await forks.gates.answer(await waitingBelow(source), ACCEPT);
    await forks.ended(source);
    return source;
  }

  test.each([
    ["above-inner", {}],
    ["above-middle", {}],
    ["above-acts", {}],
    ["above-quiet", OTHER_TEXT],
    // A decision is kept with its run, and a branch with other inputs runs everything below it anew.
    ["above-holds", OTHER_TEXT],
  ])("make the sub-workflow of %s start over and ask again", async (id, overlay) => {
    const source = await through(id);
    const runId = await branch(source, overlay, "last");
    const below = await waitingBelow(runId);
    expect(callsOf(runId)).toBe(0);
    const began = (await forks.log(runId)).find(({ type }) => type === "assay.branch.began");
    expect(began?.payload).toMatchObject({ reopens: ["child"] });
    const theirs = Object.keys((await forks.host.store.readRun({ tenant: "t1" }, source))?.children ?? {});
    expect(theirs).not.toContain(below);
    await forks.gates.answer(below, ACCEPT);
    expect(await forks.ended(runId)).toMatchObject({ status: "completed" });
  });

  test("ask again where the state of the sub-workflow is too large to be read", async () => {
    const source = await through("above-inner");
    const { store } = forks.host;
    const [child = ""] = Object.keys((await store.readRun({ tenant: "t1" }, source))?.children ?? {});
    const read = store.readRun.bind(store);
    const reading = vi.spyOn(store, "readRun").mockImplementation(async (visible, runId) => {
      const run = await read(visible, runId);
      return run?.runId === child ? withoutState(run, 10 ** 9) : run;
    });
    const runId = await branch(source, {}, "last").finally(() => reading.mockRestore());
    const isQuiet = (status: string) => status === "completed" || status.startsWith("waiting-");
    expect((await forks.gates.until(runId, (run) => isQuiet(run.status))).status).not.toBe("completed");
    expect(callsOf(runId)).toBe(0);
    expect(await waitingBelow(runId)).not.toBe(child);
  });

  test.each([
    ["above-quiet", {}],
    ["above-holds", {}],
  ])("keep the sub-workflow of %s where its gate still holds", async (id, overlay) => {
    const source = await through(id);
    const runId = await branch(source, overlay, "last");
    const { children } = await forks.ended(runId);
    expect(Object.keys(children)).toHaveLength(1);
    expect((await forks.gates.snapshot(runId)).status).toBe("completed");
  });

  test("are not passed by what was written since, also where only another lane has effects", async () => {
    const source = await forks.gates.start("beside-acts");
    const isUnderWay = ({ variables, status }: Run) => variables["mark"] === true && status.startsWith("waiting-");
    const { version } = await forks.gates.until(source, isUnderWay);
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq: version });
    const isOn = (run: Run) => run.status === "completed" || isUnderWay(run);
    await forks.gates.until(runId, isOn);
    expect(callsOf(runId)).toBe(0);
    for (const one of [source, runId]) {
      await forks.gates.answer(await waitingBelow(one), ACCEPT);
      expect(await forks.ended(one)).toMatchObject({ status: "completed" });
    }
  });

  test("count the effects of a sub-workflow that follows a gate", async () => {
    const source = await forks.gates.waiting("before-acts");
    await forks.gates.answer(source, ACCEPT);
    await forks.gates.until(source, ({ children }) => Object.keys(children).length > 0);
    const runId = await branch(source, {}, "child");
    await waits(runId);
    expect((await forks.gates.snapshot(runId)).interrupts).toMatchObject([{ nodeId: "gate" }]);
  });
});
