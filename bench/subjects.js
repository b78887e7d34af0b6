// @ts-check
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import { startAssay } from "../test/assay-process.js";
import { startPostgres } from "../test/start-postgres.js";

export const KEY = "benchmark-key-of-t1-0001";
export const NOOP = "bench-noop";
export const WAIT = "bench-wait";
export const GATE = "bench-gate";

/**
 * What is measured: servers in processes of their own, all started at the beginning and idle while it is another's turn.
 * @typedef {object} Subject
 * @property {string} name
 * @property {readonly import("../test/assay-process.js").AssayProcess[]} processes
 * @property {readonly number[]} ports
 * @property {string} [database]
 */

/** The machine's side of a benchmark: a folder, a PostgreSQL, and the servers that were started. */
export class Laboratory {
  folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
  /** @type {Awaited<ReturnType<typeof startPostgres>> | undefined} */
  #postgres;
  /** @type {Subject[]} */
  #subjects = [];
  #flags;
  #nodeArgs;

  /** @param {readonly string[]} [nodeArgs] for the servers, such as `--cpu-prof` */
  constructor(nodeArgs = []) {
    this.#nodeArgs = nodeArgs;
    const workflows = join(this.folder, "workflows");
    const keys = join(this.folder, "keys.json");
    mkdirSync(workflows);
    writeFileSync(join(workflows, "noop.json"), JSON.stringify(workflow(NOOP, "core.noop", {})));
    writeFileSync(join(workflows, "wait.json"), JSON.stringify(workflow(WAIT, "core.delay", { ms: 3_600_000 })));
    writeFileSync(join(workflows, "gate.json"), JSON.stringify(workflow(GATE, "core.approvalGate", {}, "gate")));
    const entry = { key: KEY, tenant: "t1", principal: "bench", roles: ["owner"], scopes: ["*"] };
    writeFileSync(keys, JSON.stringify([entry]), { mode: 0o600 });
    this.#flags = ["--keys", keys, "--workflows", workflows];
  }

  /** @param {readonly string[]} [flags] */
  sqlite(flags = []) {
    const data = join(this.folder, `data-${randomBytes(4).toString("hex")}`);
    return this.#serve("SQLite", 1, ["--port", "0", "--data", data, ...this.#flags, ...flags]);
  }

  /**
   * @param {number} hosts on one database
   * @param {readonly string[]} [flags]
   */
  async postgres(hosts = 1, flags = []) {
    this.#postgres ??= await startPostgres();
    const database = await createDatabase(this.#postgres.url);
    const name = hosts === 1 ? "PostgreSQL" : `PostgreSQL, ${hosts} hosts`;
    const args = ["--port", "0", "--database-url", database, ...this.#flags, ...flags];
    return { ...(await this.#serve(name, hosts, args)), database };
  }

  /** @param {readonly string[]} [flags] */
  nullStore(flags = []) {
    return this.#serve("no store", 1, ["--port", "0", ...this.#flags, ...flags], "null-store-server.js");
  }

  bare() {
    return this.#serve("bare Node", 1, [], "bare-server.js");
  }

  /**
   * The program of another checkout, with a database of its own.
   * @param {string} name
   * @param {string} checkout a folder in which `npm ci` was run
   * @param {"sqlite" | "postgres"} store
   */
  async checkout(name, checkout, store) {
    const data = join(this.folder, `data-${randomBytes(4).toString("hex")}`);
    if (store === "postgres") this.#postgres ??= await startPostgres();
    const where =
      store === "sqlite" ? ["--data", data] : ["--database-url", await createDatabase(this.#postgres?.url ?? "")];
    const args = ["serve", "--json", "--port", "0", ...where, ...this.#flags];
    return this.#serve(name, 1, args, join(checkout, "bin", "assay.js"));
  }

  /** @param {Subject} subject */
  async stop(subject) {
    await Promise.all(subject.processes.map((one) => (one.isAlive() ? one.stop() : undefined)));
  }

  async close() {
    for (const subject of this.#subjects) await this.stop(subject);
    await this.#postgres?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * @param {string} name
   * @param {number} hosts
   * @param {readonly string[]} args
   * @param {string} [program]
   * @returns {Promise<Subject>}
   */
  async #serve(name, hosts, args, program) {
    const logFile = join(this.folder, "servers.log");
    const script = program === undefined ? {} : { program: resolve(import.meta.dirname, program) };
    const processes = [];
    for (let i = 0; i < hosts; i++)
      processes.push(await startAssay({ args, logFile, nodeArgs: this.#nodeArgs, ...script }));
    const subject = { name, processes, ports: processes.map((one) => Number(new URL(one.url).port)) };
    this.#subjects.push(subject);
    return subject;
  }
}

/**
 * @param {string} id
 * @param {string} typeId
 * @param {object} config
 * @param {string} [nodeId]
 */
function workflow(id, typeId, config, nodeId = "only") {
  return {
    id,
    name: id,
    version: "1",
    nodes: [{ id: nodeId, typeId, name: nodeId, position: { x: 0, y: 0 }, config, inputs: {} }],
    edges: [],
    triggers: [{ id: "manual", type: "manual", enabled: true }],
    variables: [],
    metadata: {},
    settings: {},
  };
}

/** @param {string} server */
async function createDatabase(server) {
  const name = `bench_${randomBytes(4).toString("hex")}`;
  await query(server, `create database ${name} template template0`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/**
 * @param {string} url
 * @param {string} text
 */
export async function query(url, text) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
