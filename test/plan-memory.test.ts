import { expect, test } from "vitest";
import { workflow } from "../src/testing/workflow.ts";
import { smallHost } from "./small-host.ts";

const WORKFLOWS = Array.from({ length: 60 }, (_, index) => `large-${index}`);
/** A short text that takes much memory. */
const PARTS = Array.from({ length: 45_000 }, () => ({}));

test("runs and lists of many large workflows at once stay within the memory of the host", {
  timeout: 120_000,
}, async () => {
  // The plans of these workflows do not fit together.
  const { ask, isAlive } = await smallHost(128);
  for (const id of WORKFLOWS) {
    const definition = workflow({
      id,
      nodes: { gate: "core.approvalGate" },
      metadata: { customProperties: { id, parts: PARTS } },
    });
    expect(await ask("POST", "/v1/workflows", definition)).toBe(201);
  }
  const lists = await Promise.all(Array.from({ length: 20 }, () => ask("GET", "/v1/workflows?limit=100")));
  expect(new Set(lists)).toEqual(new Set([200]));
  const wanted = [...WORKFLOWS, ...WORKFLOWS].map((workflowId) => ({ workflowId }));
  const statuses = await Promise.all(wanted.map((body) => ask("POST", "/v1/runs", body)));
  expect(isAlive()).toBe(true);
  expect(new Set(statuses)).toEqual(new Set([201]));
  expect(await ask("GET", "/v1/runs?limit=100")).toBe(200);
});
