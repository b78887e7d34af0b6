import { expect, test } from "vitest";
import { workflow } from "../src/testing/workflow.ts";
import { smallHost } from "./small-host.ts";

const AT_ONCE = 150;
const TEXT = "x".repeat(900_000);

test("many large requests at once are answered or refused within the memory of the host", {
  timeout: 120_000,
}, async () => {
  // These requests do not fit together.
  const { ask, isAlive } = await smallHost(96);
  const variables = [{ name: "text", type: "string" as const }];
  const definition = workflow({ id: "gate", nodes: { gate: "core.approvalGate" }, variables });
  expect(await ask("POST", "/v1/workflows", definition)).toBe(201);
  const body = { workflowId: "gate", inputs: { text: TEXT } };
  const statuses = await Promise.all(Array.from({ length: AT_ONCE }, () => ask("POST", "/v1/runs", body)));
  expect(isAlive()).toBe(true);
  expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
  expect(statuses).toContain(201);
  expect(await ask("POST", "/v1/runs", { workflowId: "gate" })).toBe(201);
});
