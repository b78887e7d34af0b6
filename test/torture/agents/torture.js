// @ts-check
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../start-postgres.js";
import { Client } from "../client.js";
import { Fleet } from "../fleet.js";
import { Journal } from "../journal.js";
import { Random } from "../random.js";
import { TENANTS } from "../tenants.js";
import { createDatabase, findFile } from "../torture.js";
import { verifyStore } from "../verify-store.js";
import { AgentUser } from "./deeds.js";
import { leftOver } from "./left-over.js";
import { PROGRAM, SUITE, writeSetting } from "./setting.js";
import { NOTHING_FOUND, verify } from "./verify.js";

/**
 * @typedef {object} Report
 * @property {string} title
 * @property {number} seed
 * @property {number} rounds
 * @property {number} kills
 * @property {number} freezes
 * @property {Journal} journal
 * @property {import("./verify.js").Found & { rows: number }} found
 * @property {number} tookMs
 * @property {string} [evidence]
 */

/**
 * Servers that evaluate, ask agents and deploy, disasters, and then the books. As `torture` of the folder above, for what has to do with agents.
 * @param {object} options
 * @param {import("../scenarios.js").Scenario} options.scenario
 * @param {number} options.rounds
 * @param {number} options.seed
 * @param {number} [options.actors]
 * @param {(line: string) => void} [options.say]
 * @returns {Promise<Report>}
 */
export async function tortureAgents({ scenario, rounds, seed, actors = 8, say = () => {} }) {
  const startedMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "assay-torture-agents-"));
  const random = new Random(seed);
  const journal = new Journal();
  const postgres = scenario.store === "postgres" ? await startPostgres() : undefined;
  const database = postgres === undefined ? undefined : await createDatabase(postgres.url);
  const data = join(folder, "data");
  const where = database === undefined ? ["--data", data] : ["--database-url", database];
  const { args, traces } = writeSetting(folder);
  const fleet = new Fleet(scenario.hosts, {
    args: ["--port", "0", "--log-level", "warn", ...args, ...where, ...scenario.args],
    logFile: (place) => join(folder, `host-${place}.log`),
  });
  const found = { ...NOTHING_FOUND, rows: 0 };
  let survived = 0;
  try {
    await fleet.startAll();
    const over = new AbortController();
    /** @type {import("./deeds.js").World} */
    const world = {
      ...{ fleet, journal, tenants: TENANTS, thinkMs: 50, over: over.signal, scopes: new Map() },
      // An evaluation is many programs, each of which a loaded machine takes its time to start, and is interrupted again and again.
      ...{ runs: new Map(), deployed: [], patienceMs: 600_000 },
    };
    const client = new Client(world, random.fork());
    const users = Array.from({ length: actors }, (_, i) => new AgentUser(`user${i}`, world, random.fork()).live());
    const load = Promise.all(users);
    load.catch(() => {});
    const disasters = random.fork();
    for (let round = 1; round <= rounds; round++) {
      await someProgress(journal);
      await scenario.round(fleet, disasters, postgres);
      survived = round;
      say(`round ${round}/${rounds}: ${journal.writes} writes acknowledged, ${journal.counts.violations} violations`);
    }
    await sleep(disasters.between(100, 400));
    over.abort();
    await load;
    Object.assign(found, await verify(client, world, traces));
    // A server that was stopped for a while may begin something before it learns that it lost it.
    const lateMax = fleet.freezes * scenario.hosts * 4;
    if (found.late > lateMax) journal.violation("a task was run again that had its score", found);
    for (const code of await fleet.stopAll())
      if (code !== 0) journal.violation("a server did not stop in order", { code });
    await killedAtWork(fleet, client, traces);
    ({ rows: found.rows } = await verifyStore(
      journal,
      database === undefined ? { sqlite: findFile(data) } : { postgres: database },
    ));
  } catch (error) {
    journal.violation("the test could not go on", { error: error instanceof Error ? error.stack : String(error) });
  } finally {
    await fleet.killAll();
    await postgres?.stop();
  }
  const kills = scenario.kills === "hosts" ? fleet.kills : survived;
  const tookMs = performance.now() - startedMs;
  const report = {
    title: scenario.title,
    seed,
    rounds: survived,
    kills,
    freezes: fleet.freezes,
    journal,
    found,
    tookMs,
  };
  if (journal.counts.violations === 0) {
    rmSync(folder, { recursive: true, force: true });
    return report;
  }
  const { violations, counts, acknowledged } = journal;
  const kept = { ...report, journal: { violations, counts, acknowledged } };
  writeFileSync(join(folder, "violations.json"), JSON.stringify(kept, null, 2));
  return { ...report, evidence: folder };
}

/** What is killed before it has done anything proves nothing, and a slow machine takes its time to start programs. */
const progress = { events: 30, maxMs: 8_000 };

/** @param {Journal} journal */
async function someProgress({ counts }) {
  const [from, endMs] = [counts.eventsSeen, Date.now() + progress.maxMs];
  while (counts.eventsSeen < from + progress.events && Date.now() < endMs) await sleep(20);
}

/**
 * Programs end with the server that started them, also when that is killed.
 * @param {Fleet} fleet
 * @param {Client} client
 * @param {string} traces
 */
async function killedAtWork(fleet, client, traces) {
  await fleet.startAll();
  for (const { key } of TENANTS) {
    const body = { mode: "eval", evalSuiteRef: SUITE, agentId: PROGRAM, configurable: { concurrency: 12 } };
    await client.askOnce({ method: "POST", path: "/v1/runs", key, body });
  }
  await fleet.killAll();
  const left = await leftOver(traces);
  if (left.length > 0) client.journal.violation("a program outlived its server", { left });
}
