// @ts-check
// node bench/flood.js [--runs N] [--requests N]
//
// What a flooded tenant costs another one. Each database gets a real server; one tenant's requests are measured alone, then while
// the runs of another tenant, N of them, are waiting to be executed. A request of the measured tenant creates a run of one node and
// follows it to its end. The ratio of the two 95th percentiles is what the promise is about: at most 2.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startAssay } from "../test/assay-process.js";
import { startPostgres } from "../test/start-postgres.js";
import { quantile } from "./statistics.js";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "20000" }, requests: { type: "string", default: "300" } },
});
const RUNS = Number(values.runs);
const REQUESTS = Number(values.requests);
const KEYS = [
  { key: "bench-key-of-the-small-tenant", tenant: "small", principal: "sam", roles: ["owner"] },
  { key: "bench-key-of-the-flooded-tenant", tenant: "flooded", principal: "flo", roles: ["owner"] },
];
const [SMALL = "", FLOODED = ""] = KEYS.map(({ key }) => key);

const node = { name: "n", position: { x: 0, y: 0 }, config: {}, inputs: {} };
const workflow = (/** @type {string} */ id, /** @type {object[]} */ nodes) => ({
  id,
  name: id,
  version: "1",
  nodes,
  edges: [],
  triggers: [{ id: "manual", type: "manual", enabled: true }],
  variables: [],
  metadata: {},
  settings: {},
});

/** @param {string} url @param {string} key @param {string} path @param {unknown} [body] */
async function ask(url, key, path, body) {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}

/** @param {string} url */
async function measure(url) {
  /** @type {number[]} */ const created = [];
  /** @type {number[]} */ const ended = [];
  // The first ones warm the process up, in both cases alike, and are not counted.
  for (let i = -REQUESTS / 2; i < REQUESTS; i++) {
    const startedMs = performance.now();
    const { runId } = await ask(url, SMALL, "/v1/runs", { workflowId: "quick" });
    const createdMs = performance.now() - startedMs;
    let last = -1;
    for (let isTerminal = false; !isTerminal; ) {
      const poll = await ask(url, SMALL, `/v1/runs/${runId}/events/poll?lastSequence=${last}&timeout=30`);
      ({ lastSequence: last, isTerminal } = poll);
    }
    if (i < 0) continue;
    created.push(createdMs);
    ended.push(performance.now() - startedMs);
  }
  return { created: quantile(created, 0.95), ended: quantile(ended, 0.95) };
}

/** @param {string} name @param {string[]} database @param {string} folder */
async function flood(name, database, folder) {
  const args = ["--port", "0", "--keys", join(folder, "keys.json"), ...database];
  const start = (/** @type {string[]} */ ...more) =>
    startAssay({ args: [...args, ...more], logFile: join(folder, `${name}.log`) });

  const first = await start();
  for (const key of [SMALL, FLOODED]) {
    await ask(first.url, key, "/v1/workflows", workflow("quick", [{ ...node, id: "a", typeId: "core.noop" }]));
  }
  const alone = await measure(first.url);
  await first.stop();

  const creator = await start("--no-worker");
  let started = 0;
  const starters = Array.from({ length: 32 }, async () => {
    while (started++ < RUNS) await ask(creator.url, FLOODED, "/v1/runs", { workflowId: "quick" });
  });
  await Promise.all(starters);
  await creator.stop();

  const server = await start();
  const flooded = await measure(server.url);
  const { runs } = await ask(server.url, FLOODED, "/v1/runs?status=pending&limit=1");
  await server.stop();
  const row = (/** @type {"created" | "ended"} */ what) => {
    const ratio = (flooded[what] / alone[what]).toFixed(2);
    return `${what}: p95 alone ${alone[what].toFixed(1)} ms, flooded ${flooded[what].toFixed(1)} ms, ratio ${ratio}`;
  };
  const whole = runs.length > 0 ? "to the end" : "not to the end: take more --runs";
  console.log(`${name}, ${RUNS} due runs of another tenant, ${whole}\n  ${row("created")}\n  ${row("ended")}`);
}

const folder = mkdtempSync(join(tmpdir(), "assay-flood-"));
writeFileSync(join(folder, "keys.json"), JSON.stringify(KEYS));
mkdirSync(join(folder, "data"));
await flood("SQLite", ["--data", join(folder, "data")], folder);
const postgres = await startPostgres();
try {
  await flood("PostgreSQL", ["--database-url", postgres.url], folder);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
