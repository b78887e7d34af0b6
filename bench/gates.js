// @ts-check
import { inTurns, rateTable } from "./rates.js";
import { median, quantile, ratios, spread } from "./statistics.js";
import { GATE, KEY, query } from "./subjects.js";

/**
 * @typedef {import("./sections.js").Bench} Bench
 * @typedef {import("./sections.js").Finding} Finding
 */

const GATES_EACH = { 1: 200, 16: 1600, 64: 4000 };
const gate = { workflowId: GATE, nodeId: "gate" };
const frame = `id: 5\nevent: interrupt.resolved\ndata: ${JSON.stringify({ filler: "x".repeat(500) })}\n\n`;

/**
 * @param {Bench} bench
 * @returns {Promise<Finding>}
 */
export async function decisions(bench) {
  const { laboratory, load, pace } = bench;
  const subjects = [await laboratory.nullStore(), await laboratory.sqlite(), await laboratory.postgres()];
  const share = pace.rounds > 2 ? 1 : 0.4;
  const measured = await inTurns(bench, subjects, [1, 16, 64], (subject, connections) => {
    const each = GATES_EACH[/** @type {keyof typeof GATES_EACH} */ (connections)];
    const gates = Math.round(each * share);
    const pids = subject.processes.map(({ pid }) => pid);
    return load.ask("decide", { ports: subject.ports, key: KEY, ...gate, connections, gates, pids });
  });
  return {
    title: "Decide a gate",
    note:
      "Decisions per second: a plain gate that one accept opens, raised beforehand, off the clock. The answer comes when vote, " +
      "decision and the end of the run behind the gate are on disk. ‘No store’ is the same server with the waiting run in " +
      "memory and nothing written: the ceiling.",
    table: rateTable(measured, "no store"),
    data: measured.data,
    problems: await everyGateOnce(subjects[2]),
  };
}

/**
 * @param {import("./subjects.js").Subject | undefined} subject
 * @returns {Promise<string[]>}
 */
async function everyGateOnce(subject) {
  if (subject?.database === undefined) return [];
  const [found] = await query(
    subject.database,
    `select (select count(*) from runs) as runs,
      (select count(*) from runs where status = 'completed') as completed,
      (select count(*) from interrupts where status = 'resolved') as resolved,
      (select count(*) from run_events where type = 'interrupt.resolved') as decisions`,
  );
  const { runs, completed, resolved, decisions: made } = found;
  const isRight = runs === completed && runs === resolved && runs === made;
  return isRight
    ? []
    : [`${subject.name}: ${runs} runs, ${completed} completed, ${resolved} resolved, ${made} decisions`];
}

/**
 * @param {Bench} bench
 * @returns {Promise<Finding>}
 */
export async function gateToStream({ laboratory, load, pace }) {
  const bare = await laboratory.bare();
  const subjects = [await laboratory.sqlite(), await laboratory.postgres()];
  /** @type {Record<string, Record<"p50" | "p95" | "raised95" | "ended95" | "perSecond", number[]>>} */
  const data = {};
  const note = (/** @type {string} */ name, /** @type {Times} */ { decidedMs, raisedMs, endedMs, perSecond }) => {
    const found = data[name] ?? { p50: [], p95: [], raised95: [], ended95: [], perSecond: [] };
    data[name] = found;
    found.p50.push(quantile(decidedMs, 0.5));
    found.p95.push(quantile(decidedMs, 0.95));
    if (raisedMs !== undefined) found.raised95.push(quantile(raisedMs, 0.95));
    if (endedMs !== undefined) found.ended95.push(quantile(endedMs, 0.95));
    found.perSecond.push(perSecond);
  };
  const numbers = [1, 16, 64];
  // The first round warms up and is thrown away.
  for (let round = 0; round <= pace.rounds; round++) {
    for (const connections of numbers) {
      const how = { key: KEY, connections, seconds: round === 0 ? pace.warmUpSeconds / 3 : pace.seconds };
      for (const subject of subjects) {
        const times = await load.ask("decideAndFollow", { ports: subject.ports, ...how, ...gate });
        if (round > 0) note(`${subject.name}, ${connections}`, times);
      }
      const times = await load.ask("bareDecideAndFollow", { ports: bare.ports, ...how, frame });
      if (round > 0) note(`${bare.name}, ${connections}`, times);
    }
  }
  const rows = numbers.flatMap((connections) =>
    [bare, ...subjects].map(({ name }) => {
      const found = data[`${name}, ${connections}`];
      const base = data[`${bare.name}, ${connections}`];
      if (found === undefined || base === undefined) return [name];
      return [
        `${name}, ${connections} at once`,
        spread(found.p50, 1),
        spread(found.p95, 1),
        spread(ratios(found.p95, base.p95), 1),
        dash(found.ended95),
        dash(found.raised95),
        spread(found.perSecond),
      ];
    }),
  );
  return {
    title: "Gate opened → decided → seen on SSE",
    note:
      "Milliseconds. Each of so many reviewers starts a run, follows it by SSE, decides its gate as soon as it sees it, and " +
      "measures from sending the decision until interrupt.resolved is on the stream, commit included; likewise until " +
      "run.completed, and from sending the creation until interrupt.requested. The bare loop passes a frame of the same size " +
      "from a POST to a stream and commits nothing.",
    table: [["", "decided p50", "p95", "ratio of p95", "ended p95", "raised p95", "gates per second"], ...rows],
    data,
  };
}

/** @typedef {{ decidedMs: number[], raisedMs?: number[], endedMs?: number[], perSecond: number }} Times */

/** @param {readonly number[]} values */
function dash(values) {
  return values.length === 0 ? "–" : median(values).toFixed(1);
}
