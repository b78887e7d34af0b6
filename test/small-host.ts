import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempDir } from "../src/testing/temp-dir.ts";
import { startAssay } from "./assay-process.js";

const KEY = "key-of-the-owner-of-the-small-host";

/** The real program with so little memory, until the end of the test. */
export async function smallHost(heapMb: number) {
  const folder = tempDir();
  const keys = join(folder, "keys.json");
  writeFileSync(keys, JSON.stringify([{ key: KEY, tenant: "t1", principal: "o", roles: ["owner"] }]));
  const server = await startAssay({
    args: ["--port", "0", "--keys", keys, "--data", join(folder, "data")],
    logFile: join(folder, "server.log"),
    nodeArgs: [`--max-old-space-size=${heapMb}`],
  });
  onTestFinished(async () => {
    await server.stop();
  });
  /** The status of an answer; 0 where there is none. */
  const ask = async (method: string, path: string, body?: object): Promise<number> => {
    const headers = { authorization: `Bearer ${KEY}`, ...(body && { "content-type": "application/json" }) };
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${server.url}${path}`, sent).catch(() => undefined);
    await answer?.text().catch(() => "");
    return answer?.status ?? 0;
  };
  return { ask, isAlive: () => server.isAlive() };
}
