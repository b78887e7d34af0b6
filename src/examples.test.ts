import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { NODE_TYPES } from "./engine/nodes/all.ts";
import { checkWorkflow } from "./engine/workflows/check-workflow.ts";
import type { Interrupt } from "./protocol/gates/interrupt.ts";
import { begin, engineOn, register, until } from "./testing/engine.ts";
import { simulate } from "./testing/simulate.ts";
import { ended, workbench } from "./testing/workbench.ts";

const bench = workbench();

const folder = new URL("../examples/workflows/", import.meta.url);
const read = (file: string) =>
  checkWorkflow(NODE_TYPES, JSON.parse(readFileSync(new URL(file, folder), "utf8"))).definition;

describe("the example workflows", () => {
  test.each(readdirSync(folder))("%s can be registered", (file) => {
    expect(read(file).id).toBe(file.replace(/\.json$/, ""));
  });

  test("hello greets the one it is given", () => {
    expect(simulate(read("hello.json"), { inputs: { name: "Ada" } }).go().run.outputs).toEqual({
      greeting: "Hello, Ada!",
    });
  });

  test.each([
    [5, "ship"],
    [2, "look-again"],
  ])("triage takes a score of %i to %s and joins the paths", (score, taken) => {
    const { run } = simulate(read("triage.json"), { inputs: { score } }).go();
    expect(run.nodes[taken]?.status).toBe("completed");
    expect(run.nodes["done"]?.status).toBe("completed");
  });

  test("slow completes after its three delays", () => {
    expect(simulate(read("slow.json")).go().run.status).toBe("completed");
  });

  test("order waits for the payment of its own order, then for the address", async () => {
    const host = engineOn(bench.store);
    await register(host, read("order.json"));
    bench.work(host);
    const runId = await begin(host, { workflowId: "order", inputs: { orderId: 7 } });
    const run = await until(bench.store, runId, ({ status }) => status === "waiting-external");
    const { kind, data } = Object.values(run.interrupts)[0] as Interrupt;
    expect(kind).toBe("external-event");
    expect(data).toMatchObject({ eventType: "payment.settled", correlation: { orderId: 7 } });
  });

  test("release-gate asks two reviewers, and not the one who started it", () => {
    const { run } = simulate(read("release-gate.json")).go();
    const { nodeId, data } = Object.values(run.interrupts)[0] as Interrupt;
    expect(nodeId).toBe("approve");
    expect(data).toMatchObject({ requiredRole: "reviewer", quorum: 2, forbidSelfApproval: true });
  });

  test("compare has both drafts measured by runs of their own, and says which is longer", async () => {
    const host = engineOn(bench.store);
    for (const file of ["compare.json", "measure.json"]) await register(host, read(file));
    bench.work(host);
    const runId = await begin(host, {
      workflowId: "compare",
      inputs: { first: "a much longer draft", second: "short" },
    });
    const run = await until(bench.store, runId, ended);
    expect(run).toMatchObject({ status: "completed", outputs: { longer: "first" } });
    expect(Object.values(run.children).map(({ workflowId }) => workflowId)).toEqual(["measure", "measure"]);
  });
});
