// @ts-check
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, spread } from "./statistics.js";
import { KEY, query } from "./subjects.js";

/**
 * @typedef {import("./sections.js").Bench} Bench
 * @typedef {import("./subjects.js").Subject} Subject
 * @typedef {{ createdAtMs: number, annotationId: string }} Place
 */

const SMALL = { runs: 500, judgments: 10_000 };
const LARGE = { runs: 50_000, judgments: 1_000_000 };
const LARGE_QUICK = { runs: 10_000, judgments: 200_000 };
const LIST = "/v1/host/assay/annotations?limit=100";
const SUMMARY = "/v1/host/assay/feedback/summary";

/**
 * Lists and summaries on few judgments and on many, and an export of a twentieth of the many.
 * @param {Bench} bench
 * @returns {Promise<import("./sections.js").Finding>}
 */
export async function judged(bench) {
  const many = bench.pace.rounds > 2 ? LARGE : LARGE_QUICK;
  /** @type {Record<string, Times>} */
  const data = {};
  /** @type {string[][]} */
  const exported = [];
  for (const open of [openSqlite, openPostgres]) {
    const few = await open(bench, SMALL);
    const lots = await open(bench, many);
    for (let round = 0; round <= bench.pace.rounds; round++) {
      for (const [size, { subject, middle }] of /** @type {const} */ ([
        ["few", few],
        ["many", lots],
      ])) {
        for (const [name, path] of Object.entries(readsFrom(middle))) {
          const ms = await time(bench, subject, path);
          // The first round warms up.
          if (round > 0) timesOf(data, `${subject.name}, ${name}`)[size].push(ms);
        }
      }
    }
    exported.push(...(await measureExports(bench, lots.subject)));
    await bench.laboratory.stop(few.subject);
    await bench.laboratory.stop(lots.subject);
  }
  const rows = Object.entries(data).map(([name, { few, many: lots }]) => [
    name,
    spread(few, 1),
    spread(lots, 1),
    (median(lots) / median(few)).toFixed(1),
  ]);
  const count = (/** @type {number} */ n) => n.toLocaleString("en-US");
  return {
    title: "Read judgments: list 100, summary, export",
    note:
      `Milliseconds of one request after the other, whole answers, on ${count(SMALL.judgments)} judgments of ${count(SMALL.runs)} runs and on ` +
      `${count(many.judgments)} of ${count(many.runs)}. Exports are of the judgments on one of twenty workflows; memory is resident, before and at most.`,
    table: [
      ["", `${count(SMALL.judgments)}, ms`, `${count(many.judgments)}, ms`, "ratio"],
      ...rows,
      ["export", "rows per second", "rows", "MB before → at most"],
      ...exported,
    ],
    data,
  };
}

/** @typedef {{ few: number[], many: number[] }} Times */

/**
 * @param {Record<string, Times>} data
 * @param {string} name
 */
function timesOf(data, name) {
  const found = data[name] ?? { few: [], many: [] };
  data[name] = found;
  return found;
}

/**
 * @param {Place} middle
 * @returns {Record<string, string>}
 */
function readsFrom({ createdAtMs, annotationId }) {
  const cursor = Buffer.from(`${createdAtMs} ${annotationId}`).toString("base64url");
  return {
    "first page": LIST,
    "page in the middle": `${LIST}&cursor=${cursor}`,
    "by workflow and label": `${LIST}&workflowId=bench-3&label=tone`,
    "by actor": `${LIST}&actor=person-7`,
    "by agent and node": `${LIST}&agentId=agent-2&nodeId=node-3`,
    "open flags": `${LIST}&flagged=open`,
    search: `${LIST}&q=invo+refund`,
    summary: SUMMARY,
    "summary of a week": `${SUMMARY}?from=2026-02-01T00:00:00Z&to=2026-02-08T00:00:00Z`,
    "summary by workflow": `${SUMMARY}?groupBy=workflow`,
    "summary by node": `${SUMMARY}?groupBy=node`,
    "summary by day": `${SUMMARY}?groupBy=day`,
  };
}

/**
 * @param {Bench} bench
 * @param {Subject} subject
 * @param {string} path
 */
async function time({ load, pace }, { ports }, path) {
  const to = { ports, key: KEY, connections: 1, seconds: pace.seconds / 4 };
  return (await load.ask("repeat", { ...to, method: "GET", path, expect: 200 })).p50Ms;
}

/**
 * @param {Bench} bench
 * @param {typeof SMALL} amount
 */
async function openSqlite({ laboratory }, amount) {
  const data = join(laboratory.folder, `judged-${amount.judgments}`);
  const middle = await seed({ data }, amount);
  return { subject: await laboratory.sqlite(["--data", data]), middle };
}

/**
 * @param {Bench} bench
 * @param {typeof SMALL} amount
 */
async function openPostgres({ laboratory }, amount) {
  const subject = await laboratory.postgres();
  const middle = await seed({ database: subject.database }, amount);
  // As the server does by itself a while after so much was written.
  await query(subject.database, "vacuum analyze");
  return { subject, middle };
}

/**
 * @param {{ data?: string, database?: string }} at
 * @param {typeof SMALL} amount
 * @returns {Promise<Place>}
 */
async function seed(at, amount) {
  // A URL as a value, so that the type checker does not look for a build that may not exist yet.
  const { seedJudgments } = await import(new URL("./seed-judgments.js", import.meta.url).href);
  return seedJudgments(at, amount);
}

/**
 * Over HTTP, and by the command line into a file.
 * @param {Bench} bench
 * @param {Subject} subject
 */
async function measureExports({ laboratory }, subject) {
  const [host] = subject.processes;
  if (host === undefined) return [];
  const url = `${host.url}/v1/host/assay/annotations:export?workflowId=bench-3`;
  const served = await watched(host.pid, async () => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${KEY}` } });
    let lines = 0;
    for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {unknown} */ (answer.body))) {
      for (const byte of chunk) if (byte === 10) lines += 1;
    }
    return lines - 2;
  });
  const file = join(laboratory.folder, `export-${subject.name}.jsonl`);
  const bin = fileURLToPath(new URL("../bin/assay.js", import.meta.url));
  const args = [bin, "export", "--workflow", "bench-3", "--output", file];
  const env = { ...process.env, ASSAY_URL: host.url, ASSAY_KEY: KEY };
  const child = spawn(process.execPath, args, { env, stdio: "ignore" });
  const written = await watched(child.pid ?? 0, async () => {
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`export ended with ${code}`);
    return readFileSync(file, "utf8").split("\n").length - 3;
  });
  return [
    [`${subject.name}, served`, ...told(served)],
    [`${subject.name}, assay export`, ...told(written)],
  ];
}

/** @typedef {{ rows: number, seconds: number, beforeMb: number, peakMb: number }} Exported */

/** @param {Exported} exported */
function told({ rows, seconds, beforeMb, peakMb }) {
  const memory = `${Math.round(beforeMb)} → ${Math.round(peakMb)}`;
  return [Math.round(rows / seconds).toLocaleString("en-US"), rows.toLocaleString("en-US"), memory];
}

/**
 * @param {number} pid
 * @param {() => Promise<number>} work
 * @returns {Promise<Exported>}
 */
async function watched(pid, work) {
  const beforeMb = residentNow(pid);
  let peakMb = beforeMb;
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, residentNow(pid));
  }, 10);
  const startedMs = performance.now();
  const rows = await work();
  clearInterval(timer);
  return { rows, seconds: (performance.now() - startedMs) / 1000, beforeMb, peakMb };
}

/**
 * Where the system tells (Linux), and while the process is there.
 * @param {number} pid
 */
function residentNow(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
