// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { check, closedLoop } from "./closed-loop.js";
import { Connection, requestBytes } from "./connection.js";

/**
 * What the load process can be asked to do. Each takes plain values and gives plain values, because they travel
 * between processes.
 *
 * @typedef {import("./closed-loop.js").Load} Load
 * @typedef {import("./closed-loop.js").Rate} Rate
 */

const unfinished = ["pending", "running", "paused", "cancelling"];

/**
 * Closed loop: every connection sends the same request again as soon as it is answered.
 * @param {Load & { method: string, path: string, body?: unknown, expect: number }} job
 * @returns {Promise<Rate>}
 */
export async function repeat({ method, path, body, expect, ...load }) {
  const bytes = requestBytes(method, path, load.key, body);
  return closedLoop(load, async (connection) => {
    check(await connection.send(bytes), expect);
  });
}

/**
 * Creates runs in a closed loop for the given time, then waits until none is unfinished. The rate is completed runs
 * over the whole time from the first request to the last completion: what is answered but not yet done does not count.
 * @param {Load & { workflowId: string }} job
 * @returns {Promise<Rate & { createdPerSecond: number, drainMs: number }>}
 */
export async function createToCompleted({ workflowId, ...load }) {
  const bytes = requestBytes("POST", "/v1/runs", load.key, { workflowId });
  const created = await closedLoop(load, async (connection) => {
    check(await connection.send(bytes), 201);
  });
  const startedMs = performance.now();
  await untilDone(load);
  const drainMs = performance.now() - startedMs;
  const seconds = created.seconds + drainMs / 1000;
  const { count, p50Ms, p99Ms } = created;
  return { count, seconds, perSecond: count / seconds, p50Ms, p99Ms, createdPerSecond: created.perSecond, drainMs };
}

/**
 * Every connection creates a run, waits for its end with long polls, and creates the next. Latency is that of a client
 * that wants the result.
 * @param {Load & { workflowId: string }} job
 * @returns {Promise<Rate>}
 */
export async function createAndWait({ workflowId, ...load }) {
  const bytes = requestBytes("POST", "/v1/runs", load.key, { workflowId });
  return closedLoop(load, async (connection) => {
    const created = check(await connection.send(bytes), 201);
    const { runId } = JSON.parse(created.body);
    for (let last = 0, ended = false; !ended; ) {
      const path = `/v1/runs/${runId}/events/poll?lastSequence=${last}&timeout=30`;
      const polled = JSON.parse(check(await connection.send(requestBytes("GET", path, load.key)), 200).body);
      last = polled.lastSequence;
      ended = polled.isTerminal;
    }
  });
}

/** @param {Load} load */
async function untilDone({ ports, key }) {
  const connection = await Connection.open(/** @type {number} */ (ports[0]));
  for (const status of unfinished) {
    const bytes = requestBytes("GET", `/v1/runs?limit=1&status=${status}`, key);
    while (JSON.parse(check(await connection.send(bytes), 200).body).runs.length > 0) await sleep(1);
  }
  connection.close();
}
