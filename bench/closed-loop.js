// @ts-check
import { Connection } from "./connection.js";
import { quantile } from "./statistics.js";

/**
 * @typedef {object} Rate
 * @property {number} count
 * @property {number} seconds
 * @property {number} perSecond
 * @property {number} p50Ms
 * @property {number} p99Ms
 * @property {number} [cpuMs] processor time of the servers, where only a part of the job counts
 *
 * @typedef {object} Load
 * @property {readonly number[]} ports connections are spread over them
 * @property {string} key
 * @property {number} connections
 * @property {number} seconds
 */

/**
 * Every connection does its deed again as soon as it is done, until time is up or it says that there is no more to do.
 * @param {Load} load
 * @param {(connection: Connection) => Promise<void> | undefined} deed
 * @returns {Promise<Rate>}
 */
export async function closedLoop({ ports, connections, seconds }, deed) {
  const open = await Promise.all(
    Array.from({ length: connections }, (_, i) => Connection.open(/** @type {number} */ (ports[i % ports.length]))),
  );
  /** @type {number[]} */
  const latencies = [];
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  await Promise.all(
    open.map(async (connection) => {
      for (let nowMs = performance.now(); nowMs < endMs; ) {
        const doing = deed(connection);
        if (doing === undefined) break;
        await doing;
        const doneMs = performance.now();
        latencies.push(doneMs - nowMs);
        nowMs = doneMs;
      }
    }),
  );
  const took = (performance.now() - startedMs) / 1000;
  for (const connection of open) connection.close();
  return {
    count: latencies.length,
    seconds: took,
    perSecond: latencies.length / took,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  };
}

/**
 * @param {import("./connection.js").Reply} reply
 * @param {number} status
 */
export function check(reply, status) {
  if (reply.status !== status) throw new Error(`expected ${status}, got ${reply.status}: ${reply.body.slice(0, 300)}`);
  return reply;
}
