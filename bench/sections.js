// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { annotating } from "./annotate.js";
import { evaluating } from "./eval.js";
import { fanOut } from "./fan-out.js";
import { decisions, gateToStream } from "./gates.js";
import { judged } from "./judged.js";
import { inTurns, rateTable } from "./rates.js";
import { scrubbing } from "./scrub.js";
import { startUp } from "./start-up.js";
import { KEY, NOOP, query } from "./subjects.js";
import { validating } from "./tape.js";
import { withWebhook } from "./webhooks.js";

/**
 * @typedef {import("./subjects.js").Subject} Subject
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
  decide: decisions,
  gate: gateToStream,
  webhook: withWebhook,
  annotate: annotating,
  judged,
  scrub: scrubbing,
  tape: validating,
  eval: evaluating,
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
