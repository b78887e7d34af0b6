import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { matches } from "../../../src/protocol/schema.ts";
import { ListWorkflowsResponse } from "../../../src/protocol/workflows/workflow.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { workflow } from "../../../src/testing/workflow.ts";

let host: TestHost;
beforeAll(async () => {
  host = await testHost();
});
afterAll(() => host.close());

const register = (body: string) => host.ask("POST", "/v1/workflows", { body });

describe("registering a workflow", () => {
  test("is 201 the first time and 200 while it stays the same", async () => {
    const body = JSON.stringify(workflow({ id: "same", nodes: { a: "core.noop" } }));
    const first = await register(body);
    expect(first).toMatchObject({ statusCode: 201 });
    expect(first.json()).toMatchObject({ workflowId: "same", version: "1", created: true });
    const second = await register(body);
    expect(second).toMatchObject({ statusCode: 200 });
    expect(second.json()).toEqual({ ...first.json(), created: false });
    const changed = await register(JSON.stringify(workflow({ id: "same", version: "2", nodes: { a: "core.noop" } })));
    expect(changed).toMatchObject({ statusCode: 201 });
  });

  test("keeps the author's text as it was written", async () => {
    const definition = workflow({ id: "as-written", nodes: { a: "core.noop" } });
    const body = `  ${JSON.stringify(definition, null, 3).replace('"x": 0', '"x": 0.0')}\n`;
    await register(body);
    const response = await host.ask("GET", "/v1/workflows/as-written");
    expect(response.payload).toBe(body);
    expect(response.headers["content-type"]).toBe("application/json");
  });

  test("is refused with the capability that a node type needs", async () => {
    const response = await register(JSON.stringify(workflow({ id: "gated", nodes: { a: "core.conversationGate" } })));
    expect(expectError(response, "capability_required")).toMatchObject({
      nodeId: "a",
      offendingTypeId: "core.conversationGate",
      requiredCapability: "conversationPrimitive",
    });
  });
});

describe("the list of workflows", () => {
  test("pages by id", async () => {
    for (const id of ["aa", "ab", "ac"]) await register(JSON.stringify(workflow({ id, nodes: { a: "core.noop" } })));
    const first = (await host.ask("GET", "/v1/workflows?limit=2")).json();
    expect(matches(ListWorkflowsResponse, first)).toBe(true);
    expect(first).toMatchObject({ workflows: [{ id: "aa" }, { id: "ab" }], nextCursor: "ab" });
    const second = (await host.ask("GET", "/v1/workflows?limit=200&cursor=ab")).json();
    expect(second.workflows[0]).toMatchObject({ id: "ac", name: "Test workflow", version: "1" });
    expect(second.nextCursor).toBeUndefined();
  });

  test("and the refusal of an unknown one never hold the definitions of many", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const listWorkflows: Store["listWorkflows"] = () => Promise.reject(new Error("all definitions at once"));
    const careful = await testHost({ store: { ...store, listWorkflows } });
    const body = JSON.stringify(workflow({ id: "one", nodes: { a: "core.noop" } }));
    await careful.ask("POST", "/v1/workflows", { body });
    const { workflows } = (await careful.ask("GET", "/v1/workflows")).json();
    expect(workflows).toContainEqual(expect.objectContaining({ id: "one" }));
    const unknown = await careful.ask("POST", "/v1/runs", { body: JSON.stringify({ workflowId: "onee" }) });
    expect(expectError(unknown, "validation_error")).toMatchObject({ nearest: "one" });
    await careful.close();
  });

  test("refuses a cursor that is none", async () => {
    expectError(await host.ask("GET", "/v1/workflows?cursor=No%20Id"), "validation_error");
  });
});
