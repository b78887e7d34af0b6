// @ts-check
import { check, closedLoop } from "./closed-loop.js";
import { requestBytes } from "./connection.js";
import { cpuOf } from "./machine.js";
import { follow } from "./streams.js";

/**
 * @typedef {import("./closed-loop.js").Load} Load
 * @typedef {import("./closed-loop.js").Rate} Rate
 * @typedef {import("./connection.js").Connection} Connection
 *
 * @typedef {object} GateTimes one list entry for each gate
 * @property {number[]} raisedMs from sending the request that starts the run until the gate is seen
 * @property {number[]} decidedMs from sending the decision until it is seen
 * @property {number[]} endedMs from sending the decision until the end of the run is seen
 */

const raisersAtOnce = 32;
const accept = { resumeValue: { action: "accept" } };

/**
 * Decides as many gates as asked for, all raised beforehand and off the clock.
 * @param {Omit<Load, "seconds"> & { workflowId: string, nodeId: string, gates: number, pids: readonly number[] }} job
 * @returns {Promise<Rate>}
 */
export async function decide({ workflowId, nodeId, gates, pids, ...load }) {
  const open = await raise({ ...load, workflowId }, gates);
  const decisions = open.map((runId) =>
    requestBytes("POST", `/v1/runs/${runId}/interrupts/${nodeId}`, load.key, accept),
  );
  const before = cpuOf(pids);
  const rate = await closedLoop({ ...load, seconds: Number.POSITIVE_INFINITY }, (connection) => {
    const bytes = decisions.pop();
    return bytes === undefined ? undefined : sent(connection, bytes, 200);
  });
  return { ...rate, cpuMs: cpuOf(pids) - before };
}

/**
 * Everybody starts a run, follows it, decides its gate as soon as it is seen, and waits to see the end; then the next.
 * @param {Load & { workflowId: string, nodeId: string }} job
 * @returns {Promise<Rate & GateTimes>}
 */
export async function decideAndFollow({ workflowId, nodeId, ...load }) {
  const { ports, key } = load;
  const port = /** @type {number} */ (ports[0]);
  const create = requestBytes("POST", "/v1/runs", key, { workflowId });
  /** @type {GateTimes} */
  const times = { raisedMs: [], decidedMs: [], endedMs: [] };
  const rate = await closedLoop(load, async (connection) => {
    const startedMs = performance.now();
    const { runId } = JSON.parse(check(await connection.send(create), 201).body);
    const decision = requestBytes("POST", `/v1/runs/${runId}/interrupts/${nodeId}`, key, accept);
    const seen = watch(port, requestBytes("GET", `/v1/runs/${runId}/events`, key));
    times.raisedMs.push((await seen.when("interrupt.requested")) - startedMs);
    const sentMs = performance.now();
    const answered = sent(connection, decision, 200);
    times.decidedMs.push((await seen.when("interrupt.resolved")) - sentMs);
    times.endedMs.push((await seen.when("run.completed")) - sentMs);
    await answered;
    seen.close();
  });
  return { ...rate, ...times };
}

/**
 * The same way there and back through a program that does nothing else: a POST, and a frame to the one who follows.
 * @param {Load & { frame: string }} job
 * @returns {Promise<Rate & Pick<GateTimes, "decidedMs">>}
 */
export async function bareDecideAndFollow({ frame, ...load }) {
  const port = /** @type {number} */ (load.ports[0]);
  /** @type {number[]} */
  const decidedMs = [];
  let runs = 0;
  const rate = await closedLoop(load, async (connection) => {
    runs += 1;
    const path = `/run-${runs}`;
    const seen = watch(port, requestBytes("GET", path, load.key));
    // Its answer tells that somebody follows; a frame before that would go nowhere.
    await seen.when("open");
    const sentMs = performance.now();
    const answered = sent(connection, requestBytes("POST", path, load.key, { text: frame }), 201);
    decidedMs.push((await seen.when("interrupt.resolved")) - sentMs);
    await answered;
    seen.close();
  });
  return { ...rate, decidedMs };
}

/**
 * Runs that wait at their gate.
 * @param {Omit<Load, "seconds"> & { workflowId: string }} load
 * @param {number} gates
 * @returns {Promise<string[]>}
 */
async function raise({ workflowId, ...load }, gates) {
  const create = requestBytes("POST", "/v1/runs", load.key, { workflowId });
  /** @type {string[]} */
  const runIds = [];
  let left = gates;
  const many = { ...load, connections: raisersAtOnce, seconds: Number.POSITIVE_INFINITY };
  await closedLoop(many, (connection) => {
    left -= 1;
    return left < 0 ? undefined : raiseOne(connection, create, load.key).then((runId) => void runIds.push(runId));
  });
  return runIds;
}

/**
 * @param {Connection} connection
 * @param {string} create
 * @param {string} key
 * @returns {Promise<string>}
 */
async function raiseOne(connection, create, key) {
  const { runId } = JSON.parse(check(await connection.send(create), 201).body);
  const look = requestBytes("GET", `/v1/runs/${runId}`, key);
  while (JSON.parse(check(await connection.send(look), 200).body).status !== "waiting-approval");
  return runId;
}

/**
 * @param {Connection} connection
 * @param {string} bytes
 * @param {number} status
 */
async function sent(connection, bytes, status) {
  check(await connection.send(bytes), status);
}

/**
 * When each type of event was first seen on a stream.
 * @param {number} port
 * @param {string} bytes
 */
function watch(port, bytes) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  /** @type {Map<string, (atMs: number) => void>} */
  const waiting = new Map();
  const stream = follow(port, bytes, (type) => {
    const atMs = performance.now();
    if (!seen.has(type)) seen.set(type, atMs);
    waiting.get(type)?.(atMs);
  });
  return {
    /**
     * @param {string} type
     * @returns {Promise<number>}
     */
    when: (type) =>
      new Promise((resolve) => {
        const atMs = seen.get(type);
        if (atMs === undefined) waiting.set(type, resolve);
        else resolve(atMs);
      }),
    close: stream.close,
  };
}
