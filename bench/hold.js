// @ts-check
// node bench/hold.js: how long a host holds its event loop for one large request of each kind, SQLite, quiet otherwise.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startAssay } from "../test/assay-process.js";
import { writeTape } from "./tape-files.js";

const KEY = "key-of-the-owner-of-the-bench";
const MB = 2 ** 20;
const folder = mkdtempSync(join(tmpdir(), "assay-hold-"));
const holds = join(folder, "holds");
writeFileSync(holds, "");
writeFileSync(join(folder, "keys.json"), JSON.stringify([{ key: KEY, tenant: "t", principal: "p", roles: ["owner"] }]));
process.env["HOLD_FILE"] = holds;
const monitor = fileURLToPath(new URL("./hold-monitor.js", import.meta.url));
const server = await startAssay({
  args: ["--port", "0", "--keys", join(folder, "keys.json"), "--data", join(folder, "data")],
  logFile: join(folder, "log"),
  nodeArgs: ["--import", monitor],
});

/**
 * @param {string} method
 * @param {string} path
 * @param {string | Buffer} [body]
 */
async function ask(method, path, body) {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${response.status} ${text.slice(0, 300)}`);
  return text;
}

async function longestHold() {
  const before = readFileSync(holds, "utf8").length;
  process.kill(server.pid, "SIGUSR2");
  while (readFileSync(holds, "utf8").length === before) await sleep(10);
  return Number(readFileSync(holds, "utf8").slice(before));
}

/**
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 */
async function measure(name, work) {
  await sleep(300);
  await longestHold();
  const startedMs = performance.now();
  const result = await work();
  const took = performance.now() - startedMs;
  console.log(`${name.padEnd(40)} longest hold ${String(await longestHold()).padStart(5)} ms of ${took.toFixed(0)} ms`);
  return result;
}

try {
  await writeTape(join(folder, "tape"), 45_000);
  const tape = readFileSync(join(folder, "tape"), "utf8");
  const mb = (/** @type {number} */ bytes) => `${(bytes / MB).toFixed(1)} MB`;
  const imported = await measure(`import of a tape, ${mb(tape.length)}`, () =>
    ask("POST", "/v1/host/assay/tapes", JSON.stringify({ tape })),
  );
  const { runId } = JSON.parse(imported);
  await measure("the tape of that run", () => ask("GET", `/v1/host/assay/tapes/${runId}`));
  await measure("its events, one poll", () => ask("GET", `/v1/runs/${runId}/events/poll?timeout=1`));
  await measure("its debug bundle", () => ask("GET", `/v1/runs/${runId}/debug-bundle`));
  const lines = Array.from(
    { length: 150_000 },
    (_, i) => `line ${i} of a text that somebody wants to have reviewed, and more of it`,
  );
  const words = lines.join("\n").slice(0, 10 * MB);
  const review = JSON.stringify({
    afp: "1.2",
    type: "request",
    target: { kind: "text", content: words },
    question: "Is it right?",
  });
  await measure(`a review, ${mb(review.length)}`, () => ask("POST", "/v1/host/assay/afp/run", review)).catch((error) =>
    console.log(String(error).slice(0, 300)),
  );
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
