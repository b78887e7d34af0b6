import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { type AssayProcess, startAssay } from "../assay-process.js";

const KEY = { key: "readiness-key-of-the-owner-olga", tenant: "t", principal: "olga", roles: ["owner"] };
const headers = { authorization: `Bearer ${KEY.key}` };

let server: AssayProcess | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function start(): Promise<{ readonly server: AssayProcess; readonly data: string }> {
  const folder = tempDir();
  const data = join(folder, "data");
  mkdirSync(data);
  writeFileSync(join(folder, "keys.json"), JSON.stringify([KEY]));
  const args = ["--port", "0", "--data", data, "--keys", join(folder, "keys.json")];
  server = await startAssay({ args, logFile: join(folder, "server.log") });
  return { server, data };
}

async function status(url: string, path: string): Promise<number> {
  const response = await fetch(`${url}${path}`, { headers });
  await response.arrayBuffer();
  return response.status;
}

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

// A limit on the size of files is the disk that a process can fill without one of its own; writes fail as on a full disk.
test.skipIf(!hasPrlimit)(
  "a host is not ready while its disk takes no more, and ready again when it does",
  async () => {
    const { server, data } = await start();
    expect(await status(server.url, "/readyz")).toBe(200);
    const limit = (bytes: number | "unlimited") =>
      execFileSync("prlimit", ["--pid", String(server.pid), `--fsize=${bytes}:unlimited`]);
    limit(statSync(join(data, "assay.db-wal")).size);
    await eventually(async () => expect(await status(server.url, "/readyz")).toBe(503));
    expect(await status(server.url, "/healthz")).toBe(200);
    expect(await status(server.url, "/v1/runs")).toBe(200);
    limit("unlimited");
    await eventually(async () => expect(await status(server.url, "/readyz")).toBe(200));
  },
  120_000,
);

test("a host whose database file was overwritten is not ready", async () => {
  const { server, data } = await start();
  expect(await status(server.url, "/readyz")).toBe(200);
  const file = openSync(join(data, "assay.db"), "r+");
  writeSync(file, Buffer.alloc(statSync(join(data, "assay.db")).size, "damage"), 0, undefined, 0);
  closeSync(file);
  await eventually(async () => expect(await status(server.url, "/readyz")).toBe(503));
  expect(await status(server.url, "/healthz")).toBe(200);
}, 120_000);
