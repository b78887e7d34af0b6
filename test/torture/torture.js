// @ts-check
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startPostgres } from "../start-postgres.js";
import { Actor } from "./actor.js";
import { Client } from "./client.js";
import { Fleet } from "./fleet.js";
import { Journal } from "./journal.js";
import { Random } from "./random.js";
import { verifyOverHttp } from "./verify.js";
import { verifyStore } from "./verify-store.js";
import { WORKFLOWS } from "./workflows.js";

/**
 * @typedef {import("./client.js").Tenant} Tenant
 * @typedef {import("../start-postgres.js").TestPostgres} TestPostgres
 *
 * @typedef {object} Scenario
 * @property {string} title
 * @property {"sqlite" | "postgres"} store
 * @property {number} hosts
 * @property {"hosts" | "database"} kills
 * @property {readonly string[]} args of each server
 * @property {(fleet: Fleet, random: Random, postgres: TestPostgres | undefined) => Promise<void>} round one disaster and
 *   the recovery from it
 *
 * @typedef {object} Report
 * @property {string} title
 * @property {number} seed
 * @property {number} rounds that were gone through
 * @property {number} kills of servers or of the database
 * @property {number} freezes of servers, for longer than a lease
 * @property {Journal} journal
 * @property {{ runs: number, events: number, auditEntries: number, settleMs: number, rows: number }} found
 * @property {number} tookMs
 * @property {string} [evidence] where everything was kept, if something was wrong
 */

// A dead host's runs are free again after a second, so that take-over happens within a round and not after it.
const soonFree = ["--lease-ms", "1000", "--lease-renew-ms", "300", "--sweep-ms", "100"];

/** @type {Record<string, Scenario>} */
export const SCENARIOS = {
  sqlite: {
    title: "SQLite, one host killed",
    store: "sqlite",
    hosts: 1,
    kills: "hosts",
    args: [],
    round: async (fleet, random) => {
      await sleep(random.between(20, 900));
      await fleet.kill(0);
      while (random.chance(0.25)) await fleet.startAndKill(0, random.between(50, 700));
      await fleet.start(0);
    },
  },
  postgres: {
    title: "PostgreSQL, two hosts, killed or frozen",
    store: "postgres",
    hosts: 2,
    kills: "hosts",
    args: soonFree,
    round: async (fleet, random) => {
      await sleep(random.between(20, 700));
      if (random.chance(0.25)) return fleet.freeze(random.pick([0, 1]), random.between(1100, 1800));
      const victims = random.weighted([
        [3, [0]],
        [3, [1]],
        [2, [0, 1]],
      ]);
      await Promise.all(victims.map((place) => fleet.kill(place)));
      if (random.chance(0.15)) await fleet.startAndKill(random.pick(victims), random.between(50, 700));
      // The survivor takes over what the dead one held, or not before it is back.
      await sleep(random.chance(0.5) ? random.between(0, 100) : random.between(500, 1500));
      await Promise.all(victims.map((place) => fleet.start(place)));
    },
  },
  database: {
    title: "PostgreSQL itself killed under two hosts",
    store: "postgres",
    hosts: 2,
    kills: "database",
    args: soonFree,
    round: async (fleet, random, postgres) => {
      await sleep(random.between(100, 1000));
      await postgres?.kill();
      await sleep(random.between(0, 1500));
      await postgres?.restart();
      await sleep(random.between(200, 600));
      if (fleet.alive < fleet.size) throw new Error("A host ended when its database did.");
    },
  },
};

/** @type {readonly Tenant[]} */
const TENANTS = ["t1", "t2"].map((tenant) => ({ tenant, key: `torture-key-of-${tenant}-0001` }));

/**
 * Servers under load, disasters, and then the books: what the servers have against what they acknowledged.
 * @param {object} options
 * @param {Scenario} options.scenario
 * @param {number} options.rounds
 * @param {number} options.seed
 * @param {number} [options.actors]
 * @param {number} [options.thinkMs]
 * @param {(line: string) => void} [options.say]
 * @returns {Promise<Report>}
 */
export async function torture({ scenario, rounds, seed, actors = 24, thinkMs = 20, say = () => {} }) {
  const startedMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "assay-torture-"));
  const random = new Random(seed);
  const journal = new Journal();
  const postgres = scenario.store === "postgres" ? await startPostgres() : undefined;
  const database = postgres === undefined ? undefined : await createDatabase(postgres.url);
  const data = join(folder, "data");
  const where = database === undefined ? ["--data", data] : ["--database-url", database];
  const fleet = new Fleet(scenario.hosts, {
    args: ["--port", "0", "--log-level", "warn", ...writeConfig(folder), ...where, ...scenario.args],
    logFile: (place) => join(folder, `host-${place}.log`),
  });
  const found = { runs: 0, events: 0, auditEntries: 0, settleMs: 0, rows: 0 };
  let survived = 0;
  try {
    await fleet.startAll();
    const over = new AbortController();
    const world = { fleet, journal, tenants: TENANTS, thinkMs, over: over.signal, scopes: new Map() };
    const lives = Array.from({ length: actors }, (_, i) => new Actor(`actor${i}`, world, random.fork()).live());
    const load = Promise.all(lives);
    // Somebody has to listen from now on; it is awaited below.
    load.catch(() => {});
    const disasters = random.fork();
    for (let round = 1; round <= rounds; round++) {
      await scenario.round(fleet, disasters, postgres);
      survived = round;
      say(`round ${round}/${rounds}: ${journal.writes} writes acknowledged, ${journal.counts.violations} violations`);
    }
    await sleep(disasters.between(100, 400));
    over.abort();
    await load;
    Object.assign(found, await verifyOverHttp(new Client(world, random.fork()), TENANTS));
    for (const code of await fleet.stopAll())
      if (code !== 0) journal.violation("a server did not stop in order", { code });
    found.rows = await verifyStore(
      journal,
      database === undefined ? { sqlite: findFile(data) } : { postgres: database },
    );
    if (found.rows !== found.runs) journal.violation("rows and runs differ in number", found);
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
  keepEvidence(folder, report);
  return { ...report, evidence: folder };
}

/**
 * @param {string} folder
 * @returns {string[]} the flags that name the files
 */
function writeConfig(folder) {
  const workflows = join(folder, "workflows");
  mkdirSync(workflows);
  for (const { definition } of Object.values(WORKFLOWS)) {
    writeFileSync(join(workflows, `${definition["id"]}.json`), JSON.stringify(definition));
  }
  const keys = join(folder, "keys.json");
  const all = TENANTS.map(({ tenant, key }) => ({
    key,
    tenant,
    principal: "torture",
    roles: ["owner"],
    scopes: ["*"],
  }));
  writeFileSync(keys, JSON.stringify(all), { mode: 0o600 });
  return ["--keys", keys, "--workflows", workflows, "--strict"];
}

/** @param {string} data */
function findFile(data) {
  const name = readdirSync(data).find((file) => /\.(db|sqlite)$/.test(file));
  if (name === undefined) throw new Error(`There is no database in ${data}.`);
  return join(data, name);
}

/** @param {string} server */
async function createDatabase(server) {
  const name = `torture_${randomBytes(4).toString("hex")}`;
  const client = new pg.Client(server);
  await client.connect();
  await client.query(`create database ${name} template template0`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/**
 * @param {string} folder
 * @param {Report} report
 */
function keepEvidence(folder, { journal, ...rest }) {
  const { violations, counts, acknowledged } = journal;
  writeFileSync(
    join(folder, "violations.json"),
    JSON.stringify({ ...rest, counts, acknowledged, violations }, null, 2),
  );
  const lines = [...journal.attempts.values(), ...journal.runs.values()].map((entry) => JSON.stringify(entry));
  writeFileSync(join(folder, "journal.jsonl"), `${lines.join("\n")}\n`);
}
