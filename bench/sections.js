// @ts-check
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { cpuMs, residentMb, syncMs } from "./machine.js";
import { median, quantile, ratios, spread } from "./statistics.js";
import { KEY, NOOP, query, WAIT } from "./subjects.js";

/**
 * @typedef {import("./subjects.js").Subject} Subject
 * @typedef {import("./jobs.js").Rate} Rate
 *
 * @typedef {object} Bench
 * @property {import("./subjects.js").Laboratory} laboratory
 * @property {ReturnType<typeof import("./load.js").startLoad>} load
 * @property {{ rounds: number, seconds: number, warmUpSeconds: number }} pace
 *
 * @typedef {object} Finding
 * @property {string} title
 * @property {string} note
 * @property {string[][]} table
 * @property {unknown} data
 * @property {string[]} [problems] what makes the figures worthless
 */

const CONNECTIONS = [1, 16, 64];
const CREATE = { method: "POST", path: "/v1/runs", body: { workflowId: NOOP }, expect: 201 };

/** @type {Record<string, (bench: Bench) => Promise<Finding>>} */
export const SECTIONS = {
  runs: createToCompleted,
  wait: createAndWait,
  create: createOnly,
  poll: pollEvents,
  hosts: twoHosts,
  stream: fanOut,
  start: startUp,
};

/** @param {Bench} bench */
async function createToCompleted(bench) {
  const { laboratory, load } = bench;
  const subjects = [await laboratory.nullStore(), await laboratory.sqlite(), await laboratory.postgres()];
  const measured = await inTurns(bench, subjects, CONNECTIONS, (subject, connections, seconds) =>
    load.ask("createToCompleted", { ports: subject.ports, key: KEY, workflowId: NOOP, connections, seconds }),
  );
  const problems = await everyRunOnce(subjects[2]);
  return {
    title: "Create a run → completed (core.noop)",
    note: "Completed runs per second, from the first POST until the last run has ended. ‘No store’ is the same server without its database: the ceiling.",
    table: rateTable(measured, "no store"),
    data: measured.data,
    problems,
  };
}

/** @param {Bench} bench */
async function createAndWait(bench) {
  const { laboratory, load } = bench;
  const subjects = [await laboratory.sqlite(), await laboratory.postgres()];
  const measured = await inTurns(bench, subjects, CONNECTIONS, (subject, connections, seconds) =>
    load.ask("createAndWait", { ports: subject.ports, key: KEY, workflowId: NOOP, connections, seconds }),
  );
  return {
    title: "Create a run, wait for its end with long polls, create the next",
    note: "Runs per second and the time from POST to having seen the end, as a client has it: two or three requests for each run.",
    table: rateTable(measured),
    data: measured.data,
  };
}

/** @param {Bench} bench */
async function createOnly(bench) {
  const { laboratory, load } = bench;
  const alone = ["--no-worker"];
  const subjects = [
    await laboratory.bare(),
    await laboratory.nullStore(alone),
    await laboratory.sqlite(alone),
    await laboratory.postgres(1, alone),
  ];
  const measured = await inTurns(bench, subjects, CONNECTIONS, (subject, connections, seconds) =>
    load.ask("repeat", { ports: subject.ports, key: KEY, connections, seconds, ...CREATE }),
  );
  return {
    title: "Create a run, answer only (no worker)",
    note: "Durable POSTs per second against the same route with the store call removed. ‘Bare Node’ is what this client can drive at all.",
    table: rateTable(measured, "no store"),
    data: measured.data,
  };
}

/** @param {Bench} bench */
async function pollEvents(bench) {
  const { laboratory, load } = bench;
  const subjects = [await laboratory.sqlite(), await laboratory.postgres()];
  /** @type {Map<Subject, string>} */
  const runs = new Map();
  for (const subject of subjects) {
    const [host] = subject.processes;
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
    const answer = await fetch(`${host?.url}/v1/runs`, { method: "POST", headers, body: JSON.stringify(CREATE.body) });
    runs.set(subject, /** @type {{ runId: string }} */ (await answer.json()).runId);
  }
  await sleep(200);
  const measured = await inTurns(bench, subjects, CONNECTIONS, (subject, connections, seconds) => {
    const path = `/v1/runs/${runs.get(subject)}/events/poll?lastSequence=-1`;
    return load.ask("repeat", {
      ports: subject.ports,
      key: KEY,
      connections,
      seconds,
      method: "GET",
      path,
      expect: 200,
    });
  });
  return {
    title: "Poll the events of an ended run",
    note: "Requests per second; each answer carries the whole log of four events, read from the database.",
    table: rateTable(measured),
    data: measured.data,
  };
}

/** @param {Bench} bench */
async function twoHosts(bench) {
  const { laboratory, load } = bench;
  const subjects = [await laboratory.postgres(1), await laboratory.postgres(2)];
  const measured = await inTurns(bench, subjects, [64], (subject, connections, seconds) =>
    load.ask("createToCompleted", { ports: subject.ports, key: KEY, workflowId: NOOP, connections, seconds }),
  );
  const problems = (await Promise.all(subjects.map(everyRunOnce))).flat();
  return {
    title: "Two hosts on one PostgreSQL against one",
    note: "Completed runs per second; afterwards every run has exactly one start and one end. Two hosts, the database and the client share the cores of this machine.",
    table: rateTable(measured, "PostgreSQL"),
    data: measured.data,
    problems,
  };
}

/** @param {Bench} bench */
async function fanOut({ laboratory, load, pace }) {
  const connections = 1000;
  const events = pace.rounds > 2 ? 20 : 8;
  const bare = await laboratory.bare();
  const subjects = [await laboratory.sqlite(), await laboratory.postgres()];
  /** @type {string[]} */
  const problems = [];
  /** @type {Record<string, { p50: number[], p99: number[] }>} */
  const data = {};
  let frame = "";
  const note = (/** @type {string} */ name, /** @type {number[]} */ latencies) => {
    const found = data[name] ?? { p50: [], p99: [] };
    data[name] = found;
    found.p50.push(quantile(latencies, 0.5));
    found.p99.push(quantile(latencies, 0.99));
  };
  // The first round warms up and is thrown away.
  for (let round = 0; round <= pace.rounds; round++) {
    for (const subject of subjects) {
      const job = { port: subject.ports[0] ?? 0, key: KEY, workflowId: WAIT, connections, events };
      const found = await load.ask("fanOut", job);
      frame = found.frame;
      problems.push(...found.problems.slice(0, 3).map((problem) => `${subject.name}: ${problem}`));
      if (round > 0) note(subject.name, found.latencies);
    }
    const found = await load.ask("bareFanOut", { port: bare.ports[0] ?? 0, frame, connections, events });
    problems.push(...found.problems.slice(0, 3));
    if (round > 0) note(bare.name, found.latencies);
  }
  const base = data[bare.name] ?? { p50: [], p99: [] };
  const rows = Object.entries(data).map(([name, { p50, p99 }]) => [
    name,
    spread(p50, 1),
    spread(ratios(p50, base.p50), 2),
    spread(p99, 1),
    spread(ratios(p99, base.p99), 2),
  ]);
  return {
    title: `One event to ${connections} streams`,
    note: `Milliseconds from sending the request that causes the event until each stream has it; ${events} events of ${frame.length} bytes in a round. The bare loop commits nothing. No frame was lost or repeated unless it says so below.`,
    table: [["", "p50 ms", "ratio", "p99 ms", "ratio"], ...rows],
    data,
    problems,
  };
}

/** @param {Bench} bench */
async function startUp({ laboratory, pace }) {
  const bin = fileURLToPath(new URL("../bin/assay.js", import.meta.url));
  const times = Math.max(4, pace.rounds * 2);
  /** @type {Record<string, number[]>} */
  const data = { "node -e 0": [], "assay --version": [], "serve, SQLite": [], "serve, PostgreSQL": [] };
  /** @type {Record<string, number[]>} */
  const idle = { "serve, SQLite": [], "serve, PostgreSQL": [] };
  for (let i = 0; i < times; i++) {
    data["node -e 0"]?.push(timeOf(["-e", "0"]));
    data["assay --version"]?.push(timeOf([bin, "--version"]));
    for (const [name, open] of /** @type {const} */ ([
      ["serve, SQLite", () => laboratory.sqlite()],
      ["serve, PostgreSQL", () => laboratory.postgres()],
    ])) {
      const subject = await open();
      const [host] = subject.processes;
      data[name]?.push(host?.startMs ?? Number.NaN);
      if (i < 3) {
        await sleep(3000);
        idle[name]?.push(residentMb(host?.pid ?? 0));
      }
      await laboratory.stop(subject);
    }
  }
  const base = data["node -e 0"] ?? [];
  const rows = Object.entries(data).map(([name, ms]) => [
    name,
    spread(ms),
    (median(ms) / median(base)).toFixed(2),
    idle[name] === undefined ? "" : spread(idle[name]),
  ]);
  return {
    title: "Start",
    note: `Milliseconds until it has ended or, for serve with a new database, until it is ready; ${times} times in turns. Idle memory is resident, three seconds after that.`,
    table: [["", "ms", "ratio", "idle MB"], ...rows],
    data: { ms: data, idleMb: idle },
  };
}

/** @param {readonly string[]} args */
function timeOf(args) {
  const startedMs = performance.now();
  spawnSync(process.execPath, args, { stdio: "ignore" });
  return performance.now() - startedMs;
}

/**
 * @typedef {object} Measured
 * @property {readonly string[]} names
 * @property {readonly number[]} connections
 * @property {number[]} fsyncMs
 * @property {Record<string, { perSecond: number[], p50Ms: number[], p99Ms: number[], cpuUs: number[] }>} data by name and
 *   connections
 */

/**
 * Each subject at each number of connections, round by round, starting with another one each time.
 * @param {Bench} bench
 * @param {readonly Subject[]} subjects
 * @param {readonly number[]} connections
 * @param {(subject: Subject, connections: number, seconds: number) => Promise<Rate>} measure
 * @returns {Promise<Measured>}
 */
async function inTurns({ laboratory, pace }, subjects, connections, measure) {
  /** @type {Measured} */
  const measured = { names: subjects.map(({ name }) => name), connections, fsyncMs: [], data: {} };
  for (const subject of subjects) await measure(subject, 16, pace.warmUpSeconds);
  for (let round = 0; round < pace.rounds; round++) {
    for (const many of connections) {
      measured.fsyncMs.push(median(syncMs(laboratory.folder)));
      for (let i = 0; i < subjects.length; i++) {
        const subject = /** @type {Subject} */ (subjects[(i + round) % subjects.length]);
        const before = cpuOf(subject);
        const rate = await measure(subject, many, pace.seconds);
        const cpuUs = ((cpuOf(subject) - before) * 1000) / rate.count;
        const name = `${subject.name} ${many}`;
        const into = measured.data[name] ?? { perSecond: [], p50Ms: [], p99Ms: [], cpuUs: [] };
        measured.data[name] = into;
        into.perSecond.push(rate.perSecond);
        into.p50Ms.push(rate.p50Ms);
        into.p99Ms.push(rate.p99Ms);
        into.cpuUs.push(cpuUs);
      }
    }
  }
  return measured;
}

/** @param {Subject} subject */
function cpuOf({ processes }) {
  return processes.reduce((sum, { pid }) => sum + cpuMs(pid), 0);
}

/**
 * @param {Measured} measured
 * @param {string} [baseline] whose rate is 1
 */
function rateTable({ names, connections, data, fsyncMs }, baseline = names[0]) {
  const rows = connections.flatMap((many) =>
    names.map((name) => {
      const found = data[`${name} ${many}`];
      const base = data[`${baseline} ${many}`];
      if (found === undefined || base === undefined) return [name];
      const ratio = spread(ratios(found.perSecond, base.perSecond), 2);
      const latency = `${median(found.p50Ms).toFixed(1)} / ${median(found.p99Ms).toFixed(1)}`;
      return [`${name}, ${many} conn.`, spread(found.perSecond), ratio, latency, spread(found.cpuUs)];
    }),
  );
  return [
    ["", "per second", `ratio to ${baseline}`, "p50 / p99 ms", "server CPU µs each"],
    ...rows,
    ["fdatasync of 4 kB meanwhile, ms", spread(fsyncMs, 2), "", "", ""],
  ];
}

/**
 * @param {Subject | undefined} subject
 * @returns {Promise<string[]>}
 */
async function everyRunOnce(subject) {
  if (subject?.database === undefined) return [];
  const [found] = await query(
    subject.database,
    `select (select count(*) from runs) as runs,
      (select count(*) from runs where status = 'completed') as completed,
      (select count(*) from run_events where type = 'node.started') as started,
      (select count(*) from run_events where type = 'run.completed') as ended`,
  );
  const { runs, completed, started, ended } = found;
  const isRight = runs === completed && runs === started && runs === ended;
  return isRight ? [] : [`${subject.name}: ${runs} runs, ${completed} completed, ${started} starts, ${ended} ends`];
}
