import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../src/testing/temp-dir.ts";
import { workflow } from "../src/testing/workflow.ts";
import { startAssay } from "./assay-process.js";

const KEY = "key-of-the-owner-of-the-small-host";
/** So small that the plans of these workflows do not fit together. */
const NODE_ARGS = ["--max-old-space-size=128"];
const WORKFLOWS = Array.from({ length: 60 }, (_, index) => `large-${index}`);
/** A short text that takes much memory. */
const PARTS = Array.from({ length: 45_000 }, () => ({}));

test("runs and lists of many large workflows at once stay within the memory of the host", {
  timeout: 120_000,
}, async () => {
  const folder = tempDir();
  writeFileSync(
    join(folder, "keys.json"),
    JSON.stringify([{ key: KEY, tenant: "t1", principal: "o", roles: ["owner"] }]),
  );
  const args = ["--port", "0", "--keys", join(folder, "keys.json"), "--data", join(folder, "data")];
  const server = await startAssay({ args, logFile: join(folder, "server.log"), nodeArgs: NODE_ARGS });
  const ask = async (method: string, path: string, body?: object): Promise<number> => {
    const headers = { authorization: `Bearer ${KEY}`, ...(body && { "content-type": "application/json" }) };
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${server.url}${path}`, sent).catch(() => undefined);
    await answer?.text().catch(() => "");
    return answer?.status ?? 0;
  };
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
  expect(server.isAlive()).toBe(true);
  expect(new Set(statuses)).toEqual(new Set([201]));
  expect(await ask("GET", "/v1/runs?limit=100")).toBe(200);
  await server.stop();
});
