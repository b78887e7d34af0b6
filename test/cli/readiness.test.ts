import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import { createDatabase, type TestDatabase } from "../../src/testing/postgres.ts";
import { rawHttp } from "../../src/testing/raw-http.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { type AssayProcess, startAssay } from "../assay-process.js";
import { serve } from "./in-process.ts";

const KEY = { key: "readiness-key-of-the-owner-olga", tenant: "t", principal: "olga", roles: ["owner"] };
const headers = { authorization: `Bearer ${KEY.key}` };

let server: AssayProcess | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

function keysIn(folder: string): string[] {
  writeFileSync(join(folder, "keys.json"), JSON.stringify([KEY]));
  return ["--keys", join(folder, "keys.json")];
}

async function start(...more: readonly string[]): Promise<{ readonly server: AssayProcess; readonly data: string }> {
  const folder = tempDir();
  const data = join(folder, "data");
  mkdirSync(data);
  const args = ["--port", "0", ...keysIn(folder), "--data", data, ...more];
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

// A database of a full disk and one that is a standby refuse writes alike: reads are answered, and a write is an error.
test("a host is not ready while its PostgreSQL refuses writes, and ready again when it takes them", async () => {
  const database = await createDatabase();
  const server = await serve([...keysIn(tempDir()), "--database-url", database.url]);
  expect(await status(server.url, "/readyz")).toBe(200);
  await readOnly(database, true);
  await eventually(async () => expect(await status(server.url, "/readyz")).toBe(503));
  expect(await status(server.url, "/healthz")).toBe(200);
  expect(await status(server.url, "/v1/runs")).toBe(200);
  await readOnly(database, false);
  await eventually(async () => expect(await status(server.url, "/readyz")).toBe(200));
  await server.stop();
  await database.drop();
}, 120_000);

/** Also for the connections that are open: they are ended, and the host makes new ones. */
async function readOnly({ url }: TestDatabase, on: boolean): Promise<void> {
  const client = new Client({ connectionString: url, options: "-c default_transaction_read_only=off" });
  await client.connect();
  const name = new URL(url).pathname.slice(1);
  await client.query(`alter database ${name} set default_transaction_read_only = ${on ? "on" : "off"}`);
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()",
    [name],
  );
  await client.end();
}

test("a host that gets SIGTERM in the middle of a slow upload refuses the upload and ends", async () => {
  const { server } = await start("--request-timeout-ms", "600000", "--shutdown-grace-ms", "600000");
  let drip: NodeJS.Timeout | undefined;
  const answer = rawHttp(server.url, async (socket) => {
    const head = ["POST /v1/runs HTTP/1.1", "Host: x", `Authorization: ${headers.authorization}`];
    const rest = ["Content-Type: application/json", "Content-Length: 100000", "", "{"];
    socket.write([...head, ...rest].join("\r\n"));
    drip = setInterval(() => socket.write(" "), 20);
    await new Promise((resolve) => setTimeout(resolve, 200));
    void server.stop();
  });
  expect(await answer).toMatchObject({ status: 503 });
  clearInterval(drip);
  await eventually(() => expect(server.isAlive()).toBe(false));
}, 120_000);
