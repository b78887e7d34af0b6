import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { until } from "../../../src/testing/engine.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { ended } from "../../../src/testing/workbench.ts";
import { workflow } from "../../../src/testing/workflow.ts";

describe.each(HTTP_STORES)("names that are not known, on %s", (_, open) => {
  let host: TestHost;
  let gates: GateClient;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true });
    gates = new GateClient(host);
    const read = { typeId: "core.noop", inputs: { text: { type: "variable", variableName: "draft" } } };
    const variables = [{ name: "name", type: "string", defaultValue: "you" }] as const;
    const nodes = {
      a: "core.noop",
      call: { typeId: "core.subWorkflow", config: { workflowId: "child", inputMapping: { odd: "name" } } },
    };
    await gates.registerWorkflow(workflow({ id: "child", nodes: { a: "core.noop" }, variables: [...variables] }));
    await gates.registerWorkflow(workflow({ id: "greet", nodes: { a: read } as never, variables: [...variables] }));
    await gates.registerWorkflow(workflow({ id: "parent", nodes: nodes as never, variables: [...variables] }));
    await gates.registerWorkflow(workflow({ id: "open", nodes: { a: "core.noop" } }));
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const start = (json: object) => host.ask("POST", "/v1/runs", { json });
  const queue = (query: object, name = "q") =>
    host.ask("POST", "/v1/host/assay/queues", { json: { name, judgment: { kind: "rating" }, query } });

  test("of inputs are refused where the workflow declares its inputs, with those that it has", async () => {
    const refused = await start({ workflowId: "greet", inputs: { nmae: "Ada", zzz: 1 } });
    const details = expectError(refused, "validation_error");
    expect(refused.json().message).toContain(
      "inputs.nmae is no input of workflow greet (did you mean name?); its inputs are name",
    );
    expect(details).toMatchObject({
      problems: [{ path: "/inputs/nmae" }, { path: "/inputs/zzz" }],
      inputs: ["name"],
    });
    expect((await host.ask("GET", "/v1/runs?workflowId=greet")).json().runs).toEqual([]);
  });

  test("of inputs are taken where a node reads them, and by a workflow that declares none", async () => {
    expect((await start({ workflowId: "greet", inputs: { name: "Ada", draft: "x" } })).statusCode).toBe(201);
    expect((await start({ workflowId: "open", inputs: { anything: 1 } })).statusCode).toBe(201);
  });

  test("of inputs that a parent maps to its child are taken, as the published sub-workflows need it", async () => {
    const runId = await gates.start("parent");
    expect((await until(host.store, runId, ended)).status).toBe("completed");
  });

  test("of inputs that a fork brings are refused", async () => {
    const runId = await gates.start("greet");
    await until(host.store, runId, ended);
    const overlay = { runOptionsOverlay: { inputs: { nmae: "Ada" } } };
    const refused = await host.ask("POST", `/v1/runs/${runId}:fork`, {
      json: { mode: "branch", fromSeq: 1, ...overlay },
    });
    expect(refused.statusCode, refused.payload).toBe(400);
    expect(refused.json().message).toContain("did you mean name?");
  });

  test("of workflows are refused with the nearest one", async () => {
    const refused = await start({ workflowId: "gret" });
    expect(expectError(refused, "validation_error")).toMatchObject({ workflowId: "gret", nearest: "greet" });
    expect(refused.json().message).toContain('did you mean "greet"?');
  });

  test("of a queue's workflow are refused, and changed rules too; a workflow with runs is known", async () => {
    const refused = await queue({ workflowId: "gret" });
    expect(expectError(refused, "validation_error")).toMatchObject({ field: "query.workflowId", nearest: "greet" });
    const made = await queue({ workflowId: "greet" });
    expect(made.statusCode, made.payload).toBe(201);
    const { queueId } = made.json();
    const changed = await host.ask("POST", `/v1/host/assay/queues/${queueId}:update`, {
      json: { revision: 1, query: { workflowId: "nowhere" } },
    });
    expectError(changed, "validation_error");
  });
});
