// @ts-check
import { inTurns, rateTable } from "./rates.js";
import { GATE, KEY, query } from "./subjects.js";

/**
 * @typedef {import("./subjects.js").Subject} Subject
 */

const RUNS = 64;
const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
const JUDGMENT = {
  signal: { kind: "rating", rating: 4 },
  note: "Right in the main; the second paragraph is too long.",
};

/**
 * @param {import("./sections.js").Bench} bench
 * @returns {Promise<import("./sections.js").Finding>}
 */
export async function annotating(bench) {
  const { laboratory, load } = bench;
  const subjects = [await laboratory.nullStore(), await laboratory.sqlite(), await laboratory.postgres()];
  /** @type {Map<Subject, string[]>} */
  const paths = new Map();
  for (const subject of subjects) {
    const runIds = await Promise.all(Array.from({ length: RUNS }, () => waitingRun(subject)));
    paths.set(
      subject,
      runIds.map((runId) => `/v1/runs/${runId}/annotations`),
    );
  }
  let acknowledged = 0;
  const measured = await inTurns(bench, subjects, [1, 16, 64], async (subject, connections, seconds) => {
    const to = { ports: subject.ports, key: KEY, connections, seconds };
    const rate = await load.ask("postInTurn", { ...to, paths: paths.get(subject) ?? [], body: JUDGMENT, expect: 201 });
    if (subject === subjects[2]) acknowledged += rate.count;
    return rate;
  });
  return {
    title: "Judge a run",
    note:
      `Durable annotation POSTs per second, a rating with a note, on ${RUNS} runs in turn; indexes, tallies, search and audit ` +
      "chain are written with it. ‘No store’ is the same server with the runs in memory and nothing written: the ceiling.",
    table: rateTable(measured, "no store"),
    data: measured.data,
    problems: await everyOneThere(subjects[2], acknowledged),
  };
}

/**
 * One that stays in memory also where there is no store.
 * @param {Subject} subject
 */
async function waitingRun({ processes: [host] }) {
  const body = JSON.stringify({ workflowId: GATE });
  const created = await fetch(`${host?.url}/v1/runs`, { method: "POST", headers, body });
  const { runId } = /** @type {{ runId: string }} */ (await created.json());
  for (;;) {
    const answer = await fetch(`${host?.url}/v1/runs/${runId}`, { headers });
    const { status } = /** @type {{ status?: string }} */ (await answer.json());
    if (status === "waiting-approval") return runId;
  }
}

/**
 * @param {Subject | undefined} subject
 * @param {number} acknowledged
 */
async function everyOneThere(subject, acknowledged) {
  if (subject?.database === undefined) return [];
  const [{ rows, counted }] = await query(
    subject.database,
    `select (select count(*) from annotations)::int as rows,
      (select sum(annotations) from run_feedback where node_id = '')::int as counted`,
  );
  const isRight = rows === acknowledged && counted === acknowledged;
  return isRight ? [] : [`${subject.name}: ${acknowledged} acknowledged, ${rows} there, ${counted} counted`];
}
