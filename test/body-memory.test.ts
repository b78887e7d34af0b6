import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../src/testing/temp-dir.ts";
import { workflow } from "../src/testing/workflow.ts";
import { startAssay } from "./assay-process.js";

const KEY = "key-of-the-owner-of-the-small-host";
/** So small that these requests do not fit together. */
const NODE_ARGS = ["--max-old-space-size=96"];
const AT_ONCE = 150;
const TEXT = "x".repeat(900_000);

test("many large requests at once are answered or refused within the memory of the host", {
  timeout: 120_000,
}, async () => {
  const folder = tempDir();
  writeFileSync(
    join(folder, "keys.json"),
    JSON.stringify([{ key: KEY, tenant: "t1", principal: "o", roles: ["owner"] }]),
  );
  const args = ["--port", "0", "--keys", join(folder, "keys.json"), "--data", join(folder, "data")];
  const server = await startAssay({ args, logFile: join(folder, "server.log"), nodeArgs: NODE_ARGS });
  const post = async (path: string, body: object): Promise<number> => {
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(`${server.url}${path}`, sent).catch(() => undefined);
    await answer?.text().catch(() => "");
    return answer?.status ?? 0;
  };
  const variables = [{ name: "text", type: "string" as const }];
  expect(await post("/v1/workflows", workflow({ id: "gate", nodes: { gate: "core.approvalGate" }, variables }))).toBe(
    201,
  );
  const body = { workflowId: "gate", inputs: { text: TEXT } };
  const statuses = await Promise.all(Array.from({ length: AT_ONCE }, () => post("/v1/runs", body)));
  expect(server.isAlive()).toBe(true);
  expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
  expect(statuses).toContain(201);
  expect(await post("/v1/runs", { workflowId: "gate" })).toBe(201);
  await server.stop();
});
