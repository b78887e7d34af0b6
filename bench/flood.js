// @ts-check
// node bench/flood.js [--runs N] [--requests N]
//
// What a flooded tenant costs another one. Two real servers, each with a database of its own: in one of them N runs of another tenant
// are waiting to be executed. The requests of one tenant are measured at both in turn, while the other server is frozen. A request
// creates a run of one node and follows it to its end. The ratio of the two 95th percentiles is what the promise is about: at most 2.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { startAssay } from "../test/assay-process.js";
import { startPostgres } from "../test/start-postgres.js";
import { quantile } from "./statistics.js";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "20000" }, requests: { type: "string", default: "300" } },
});
const RUNS = Number(values.runs);
const REQUESTS = Number(values.requests);
/** Requests between two changes of the server. */
const AT_ONCE = 20;
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

/**
 * @param {string} url
 * @param {number} requests
 */
async function measure(url, requests) {
  /** @type {number[]} */ const created = [];
  /** @type {number[]} */ const ended = [];
  for (let i = 0; i < requests; i++) {
    const startedMs = performance.now();
    const { runId } = await ask(url, SMALL, "/v1/runs", { workflowId: "quick" });
    created.push(performance.now() - startedMs);
    let last = -1;
    for (let isTerminal = false; !isTerminal; ) {
      const poll = await ask(url, SMALL, `/v1/runs/${runId}/events/poll?lastSequence=${last}&timeout=30`);
      ({ lastSequence: last, isTerminal } = poll);
    }
    ended.push(performance.now() - startedMs);
  }
  return { created, ended };
}

/**
 * Both servers in turn, a few requests each, while the other one is frozen: noise of the machine meets both alike.
 * @param {import("../test/assay-process.js").AssayProcess} quiet
 * @param {import("../test/assay-process.js").AssayProcess} flooded
 */
async function measureInTurn(quiet, flooded) {
  const alone = { created: /** @type {number[]} */ ([]), ended: /** @type {number[]} */ ([]) };
  const beside = { created: /** @type {number[]} */ ([]), ended: /** @type {number[]} */ ([]) };
  const turns = [
    { server: quiet, other: flooded, all: alone },
    { server: flooded, other: quiet, all: beside },
  ];
  // The first rounds warm the processes up and are not counted.
  const warmUp = Math.ceil(REQUESTS / AT_ONCE / 3);
  for (let round = -warmUp; round < REQUESTS / AT_ONCE; round++) {
    for (const { server, other, all } of turns) {
      other.freeze();
      server.thaw();
      // What piled up while the process was frozen is not what is measured.
      await measure(server.url, 2);
      const { created, ended } = await measure(server.url, AT_ONCE);
      if (round < 0) continue;
      all.created.push(...created);
      all.ended.push(...ended);
    }
  }
  quiet.thaw();
  flooded.thaw();
  return { alone, beside };
}

/**
 * @param {string} name
 * @param {readonly [string[], string[]]} databases one for the quiet server, one for the flooded one
 * @param {string} folder
 */
async function flood(name, [quietDatabase, floodedDatabase], folder) {
  const start = (/** @type {string[]} */ ...args) =>
    startAssay({
      args: ["--port", "0", "--keys", join(folder, "keys.json"), ...args],
      logFile: join(folder, `${name}.log`),
    });
  const creator = await start(...floodedDatabase, "--no-worker");
  const quiet = await start(...quietDatabase);
  for (const { url } of [creator, quiet]) {
    for (const key of [SMALL, FLOODED]) {
      await ask(url, key, "/v1/workflows", workflow("quick", [{ ...node, id: "a", typeId: "core.noop" }]));
    }
  }
  let started = 0;
  const starters = Array.from({ length: 32 }, async () => {
    while (started++ < RUNS) await ask(creator.url, FLOODED, "/v1/runs", { workflowId: "quick" });
  });
  await Promise.all(starters);
  await creator.stop();

  const flooded = await start(...floodedDatabase);
  const { alone, beside } = await measureInTurn(quiet, flooded);
  const { runs } = await ask(flooded.url, FLOODED, "/v1/runs?status=pending&limit=1");
  await flooded.stop();
  await quiet.stop();
  const row = (/** @type {"created" | "ended"} */ what) => {
    const [before, after] = [quantile(alone[what], 0.95), quantile(beside[what], 0.95)];
    const medians = `medians ${quantile(alone[what], 0.5).toFixed(1)} and ${quantile(beside[what], 0.5).toFixed(1)} ms`;
    const ratio = (after / before).toFixed(2);
    return `${what}: p95 alone ${before.toFixed(1)} ms, flooded ${after.toFixed(1)} ms, ratio ${ratio} (${medians})`;
  };
  const whole = runs.length > 0 ? "to the end" : "not to the end: take more --runs";
  console.log(`${name}, ${RUNS} due runs of another tenant, ${whole}\n  ${row("created")}\n  ${row("ended")}`);
}

/** @param {string} url @param {string} name */
function databaseOf(url, name) {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return ["--database-url", other.href];
}

const folder = mkdtempSync(join(tmpdir(), "assay-flood-"));
writeFileSync(join(folder, "keys.json"), JSON.stringify(KEYS));
try {
  const [quiet = "", flooded = ""] = ["quiet", "flooded"].map((name) => join(folder, name));
  for (const path of [quiet, flooded]) mkdirSync(path);
  await flood(
    "SQLite",
    [
      ["--data", quiet],
      ["--data", flooded],
    ],
    folder,
  );
  const postgres = await startPostgres();
  try {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    for (const name of ["quiet", "flooded"]) await client.query(`create database ${name}`);
    await client.end();
    await flood("PostgreSQL", [databaseOf(postgres.url, "quiet"), databaseOf(postgres.url, "flooded")], folder);
  } finally {
    await postgres.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
