// @ts-check
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection, requestBytes } from "./connection.js";
import { quantile } from "./statistics.js";

/**
 * What the load process can be asked to do. Each takes plain values and gives plain values, because they travel
 * between processes.
 *
 * @typedef {object} Rate
 * @property {number} count
 * @property {number} seconds
 * @property {number} perSecond
 * @property {number} p50Ms
 * @property {number} p99Ms
 *
 * @typedef {object} Load
 * @property {readonly number[]} ports connections are spread over them
 * @property {string} key
 * @property {number} connections
 * @property {number} seconds
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

/**
 * One run and many streams that follow it; each pause of the run is one event to all of them.
 * @param {{ port: number, key: string, workflowId: string, connections: number, events: number }} job
 * @returns {Promise<{ latencies: number[][], frame: string, problems: string[] }>}
 */
export async function fanOut({ port, key, workflowId, connections, events }) {
  const control = await Connection.open(port);
  const ask = async (/** @type {string} */ method, /** @type {string} */ path, /** @type {unknown} */ body) =>
    JSON.parse((await control.send(requestBytes(method, path, key, body))).body);
  const { runId } = await ask("POST", "/v1/runs", { workflowId });
  const streams = await openStreams(port, requestBytes("GET", `/v1/runs/${runId}/events`, key), connections);
  await everyOne(streams, 1);

  /** @type {number[][]} */
  const latencies = [];
  for (let i = 0; i < events; i++) {
    const sentMs = performance.now();
    await ask("POST", `/v1/runs/${runId}:pause`, { drainPolicy: "immediate" });
    await everyOne(streams, 2 + 2 * i);
    latencies.push(streams.map((stream) => (stream.times[1 + 2 * i] ?? Number.NaN) - sentMs));
    await ask("POST", `/v1/runs/${runId}:resume`, {});
    await everyOne(streams, 3 + 2 * i);
    await sleep(20);
  }
  await ask("POST", `/v1/runs/${runId}/cancel`, {});
  await everyOne(streams, 2 + 2 * events);
  const log = await ask("GET", `/v1/runs/${runId}/events/poll?lastSequence=-1`, undefined);
  const told = /^run\.(started|paused|resumed|cancelled)$|^node\.(completed|failed|skipped)$/;
  const expected = log.events
    .filter((/** @type {{ type: string }} */ event) => told.test(event.type))
    .map((/** @type {{ sequence: number }} */ event) => event.sequence)
    .join();
  const problems = streams
    .filter((stream) => stream.ids.join() !== expected)
    .map((stream) => `expected frames ${expected}, got ${stream.ids.join()}`);
  const frame = streams[0]?.frames[1] ?? "";
  for (const stream of streams) stream.close();
  control.close();
  return { latencies, frame, problems };
}

/**
 * The same bytes to the same number of sockets, by a program that does nothing else.
 * @param {{ port: number, frame: string, connections: number, events: number }} job
 * @returns {Promise<{ latencies: number[][], problems: string[] }>}
 */
export async function bareFanOut({ port, frame, connections, events }) {
  const control = await Connection.open(port);
  const streams = await openStreams(port, requestBytes("GET", "/", "none"), connections);
  /** @type {number[][]} */
  const latencies = [];
  for (let i = 0; i < events; i++) {
    const text = frame.replace(/^id: ?\d+/m, `id: ${i}`);
    const bytes = requestBytes("POST", "/", "none", { text });
    const sentMs = performance.now();
    await control.send(bytes);
    await everyOne(streams, 1 + i);
    latencies.push(streams.map((stream) => (stream.times[i] ?? Number.NaN) - sentMs));
    await sleep(20);
  }
  const expected = Array.from({ length: events }, (_, i) => i).join();
  const problems = streams.filter((stream) => stream.ids.join() !== expected).map(() => "a frame went missing");
  for (const stream of streams) stream.close();
  control.close();
  return { latencies, problems };
}

/**
 * @typedef {object} Stream
 * @property {number[]} ids
 * @property {number[]} times when each frame came
 * @property {string[]} frames
 * @property {() => void} close
 */

/**
 * @param {number} port
 * @param {string} bytes
 * @param {number} connections
 * @returns {Promise<Stream[]>}
 */
async function openStreams(port, bytes, connections) {
  /** @type {Stream[]} */
  const streams = [];
  for (let i = 0; i < connections; i++) {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    /** @type {Stream} */
    const stream = { ids: [], times: [], frames: [], close: () => socket.destroy() };
    streams.push(stream);
    let text = "";
    socket.setEncoding("latin1");
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      const nowMs = performance.now();
      text += chunk;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const block = text.slice(0, end + 2);
        text = text.slice(end + 2);
        const id = /^id: ?(\d+)$/m.exec(block)?.[1];
        if (id === undefined) continue;
        stream.ids.push(Number(id));
        stream.times.push(nowMs);
        if (i === 0) stream.frames.push(block.slice(block.search(/^(id|event):/m)));
      }
    });
    socket.write(bytes, "latin1");
    // Not all at once: the backlog of a listening socket is shorter than a thousand.
    if (i % 50 === 49) await sleep(20);
  }
  await sleep(200);
  return streams;
}

/**
 * @param {readonly Stream[]} streams
 * @param {number} frames
 */
async function everyOne(streams, frames) {
  for (let waits = 0; streams.some((stream) => stream.ids.length < frames); waits++) {
    if (waits > 10_000) throw new Error(`some streams have fewer than ${frames} frames`);
    await sleep(1);
  }
}

/**
 * @param {Load} load
 * @param {(connection: Connection) => Promise<void>} deed
 * @returns {Promise<Rate>}
 */
async function closedLoop({ ports, connections, seconds }, deed) {
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
        await deed(connection);
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

/** @param {Load} load */
async function untilDone({ ports, key }) {
  const connection = await Connection.open(/** @type {number} */ (ports[0]));
  for (const status of unfinished) {
    const bytes = requestBytes("GET", `/v1/runs?limit=1&status=${status}`, key);
    while (JSON.parse(check(await connection.send(bytes), 200).body).runs.length > 0) await sleep(1);
  }
  connection.close();
}

/**
 * @param {import("./connection.js").Reply} reply
 * @param {number} status
 */
function check(reply, status) {
  if (reply.status !== status) throw new Error(`expected ${status}, got ${reply.status}: ${reply.body.slice(0, 300)}`);
  return reply;
}
