// @ts-check
import { fileURLToPath } from "node:url";
import { inTurns, rateTable } from "./rates.js";
import { GATE, KEY, NOOP } from "./subjects.js";

/**
 * @typedef {import("./sections.js").Bench} Bench
 * @typedef {import("./subjects.js").Subject} Subject
 * @typedef {(subject: Subject, connections: number, seconds: number) => Promise<import("./closed-loop.js").Rate>} Measure
 */

const HERE = fileURLToPath(new URL("..", import.meta.url));
const GATES_AT_ONCE = 600;

/**
 * This checkout and another, in turns: creating runs, reading one, annotating one, deciding gates; on both databases.
 * @param {Bench} bench
 * @param {string} other
 */
export async function beside(bench, other) {
  const { laboratory, load } = bench;
  /** @type {string[][]} */
  const table = [];
  /** @type {Record<string, unknown>} */
  const data = {};
  for (const store of /** @type {const} */ (["sqlite", "postgres"])) {
    const subjects = [
      await laboratory.checkout("the other", other, store),
      await laboratory.checkout("this one", HERE, store),
    ];
    for (const [work, measure] of Object.entries(await works(load, subjects))) {
      const measured = await inTurns(bench, subjects, [16, 64], measure);
      const [heading = [], ...rows] = rateTable(measured, "the other");
      if (table.length === 0) table.push(["", ...heading]);
      table.push(...rows.map((row) => [`${work}, ${store}`, ...row]));
      data[`${work} ${store}`] = measured.data;
    }
    for (const subject of subjects) await laboratory.stop(subject);
  }
  return {
    title: "This checkout beside another",
    note: "Per second, in turns; each has a database of its own. Processor time is that of the server.",
    table,
    data,
  };
}

/**
 * @param {Bench["load"]} load
 * @param {readonly Subject[]} subjects
 * @returns {Promise<Record<string, Measure>>}
 */
async function works(load, subjects) {
  const runs = new Map(await Promise.all(subjects.map(async (one) => /** @type {const} */ ([one, await newRun(one)]))));
  const annotation = { signal: { kind: "rating", rating: 4 }, note: "Right, but long." };
  return {
    "create → completed": ({ ports }, connections, seconds) =>
      load.ask("createToCompleted", { ports, key: KEY, workflowId: NOOP, connections, seconds }),
    "read a run": (subject, connections, seconds) => {
      const path = `/v1/runs/${runs.get(subject)}`;
      return load.ask("repeat", {
        ports: subject.ports,
        key: KEY,
        connections,
        seconds,
        method: "GET",
        path,
        expect: 200,
      });
    },
    annotate: (subject, connections, seconds) => {
      const path = `/v1/runs/${runs.get(subject)}/annotations`;
      const request = { method: "POST", path, body: annotation, expect: 201 };
      return load.ask("repeat", { ports: subject.ports, key: KEY, connections, seconds, ...request });
    },
    decide: ({ ports, processes }, connections) => {
      const pids = processes.map(({ pid }) => pid);
      const gates = { workflowId: GATE, nodeId: "gate", gates: GATES_AT_ONCE, pids };
      return load.ask("decide", { ports, key: KEY, connections, ...gates });
    },
  };
}

/** @param {Subject} subject */
async function newRun({ processes: [host] }) {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  const body = JSON.stringify({ workflowId: NOOP });
  const answer = await fetch(`${host?.url}/v1/runs`, { method: "POST", headers, body });
  return /** @type {{ runId: string }} */ (await answer.json()).runId;
}
