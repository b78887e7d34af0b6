// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { Connection, requestBytes } from "./connection.js";
import { everyOne, openStreams } from "./streams.js";

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
