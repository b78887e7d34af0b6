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
import { Deliveries } from "./deliveries.js";
import { Fleet } from "./fleet.js";
import { Journal } from "./journal.js";
import { JudgmentFollower } from "./judgment-follower.js";
import { Random } from "./random.js";
import { KEYS, TENANTS } from "./tenants.js";
import { NOTHING_FOUND, verifyOverHttp } from "./verify.js";
import { verifyStore } from "./verify-store.js";
import { WORKFLOWS } from "./workflows.js";

/**
 * @typedef {import("./scenarios.js").Scenario} Scenario
 *
 * @typedef {object} Report
 * @property {string} title
 * @property {number} seed
 * @property {number} rounds that were gone through
 * @property {number} kills of servers or of the database
 * @property {number} freezes of servers, for longer than a lease
 * @property {Journal} journal
 * @property {import("./verify.js").Found & { rows: number }} found
 * @property {number} tookMs
 * @property {string} [evidence] where everything was kept, if something was wrong
 */

// The receiver is on loopback and lives through every crash. A dead host's deliveries are free again after twelve times
// the longest attempt.
const soonDelivered = [
  "--allow-private-webhooks",
  ...["--webhook-timeout-ms", "300", "--webhook-retry-ms", "20", "--webhook-retry-max-ms", "200"],
  ...["--webhook-attempts", "100"],
];

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
    args: ["--port", "0", "--log-level", "warn", ...writeConfig(folder), ...where, ...soonDelivered, ...scenario.args],
    logFile: (place) => join(folder, `host-${place}.log`),
  });
  const deliveries = await Deliveries.listen(journal, random.fork());
  const found = { ...NOTHING_FOUND, rows: 0 };
  let survived = 0;
  try {
    await fleet.startAll();
    const over = new AbortController();
    const world = { fleet, journal, tenants: TENANTS, thinkMs, over: over.signal, scopes: new Map() };
    const client = new Client(world, random.fork());
    await deliveries.register(client, TENANTS);
    const lives = Array.from({ length: actors }, (_, i) => new Actor(`actor${i}`, world, random.fork()).live());
    const followers = new Map(
      TENANTS.map((tenant) => [tenant.tenant, new JudgmentFollower(world, random.fork(), tenant)]),
    );
    const following = Promise.all([...followers.values()].map((follower) => follower.follow()));
    following.catch(() => {});
    const load = Promise.all(lives);
    // Somebody has to listen from now on; it is awaited below.
    load.catch(() => {});
    const disasters = random.fork();
    for (let round = 1; round <= rounds; round++) {
      await scenario.round(fleet, disasters, postgres);
      survived = round;
      const sofar = `${killsOf(scenario, fleet, round)} kills, ${journal.writes} writes acknowledged`;
      say(`round ${round}/${rounds}: ${sofar}, ${journal.counts.violations} violations`);
    }
    await sleep(disasters.between(100, 400));
    over.abort();
    await load;
    Object.assign(found, await verifyOverHttp(client, TENANTS, deliveries, followers));
    for (const code of await fleet.stopAll())
      if (code !== 0) journal.violation("a server did not stop in order", { code });
    const { rows, places } = await verifyStore(
      journal,
      database === undefined ? { sqlite: findFile(data) } : { postgres: database },
      [...followers.keys()],
    );
    found.rows = rows;
    for (const { tenant, change } of found.lost) followers.get(tenant)?.lost(change, places.get(`${tenant} ${change}`));
    if (found.rows !== found.runs) journal.violation("rows and runs differ in number", found);
  } catch (error) {
    journal.violation("the test could not go on", { error: error instanceof Error ? error.stack : String(error) });
  } finally {
    await fleet.killAll();
    await postgres?.stop();
    await deliveries.close();
  }
  const kills = killsOf(scenario, fleet, survived);
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
 * How often something was killed so far: hosts, or the database once in every round.
 * @param {Scenario} scenario
 * @param {Fleet} fleet
 * @param {number} rounds
 */
function killsOf({ kills }, fleet, rounds) {
  return kills === "hosts" ? fleet.kills : rounds;
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
  writeFileSync(keys, JSON.stringify(KEYS), { mode: 0o600 });
  return ["--keys", keys, "--workflows", workflows, "--strict"];
}

/** @param {string} data */
export function findFile(data) {
  const name = readdirSync(data).find((file) => /\.(db|sqlite)$/.test(file));
  if (name === undefined) throw new Error(`There is no database in ${data}.`);
  return join(data, name);
}

/** @param {string} server */
export async function createDatabase(server) {
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
