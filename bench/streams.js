// @ts-check
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

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
export async function openStreams(port, bytes, connections) {
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
export async function everyOne(streams, frames) {
  for (let waits = 0; streams.some((stream) => stream.ids.length < frames); waits++) {
    if (waits > 10_000) throw new Error(`some streams have fewer than ${frames} frames`);
    await sleep(1);
  }
}

/**
 * Follows a run; `onEvent` is told the type of each frame as it comes.
 * @param {number} port
 * @param {string} bytes the request
 * @param {(type: string) => void} onEvent
 * @returns {{ close: () => void }}
 */
export function follow(port, bytes, onEvent) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  let text = "";
  socket.setEncoding("latin1");
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const type = /^event: ?(.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (type !== undefined) onEvent(type);
    }
  });
  socket.write(bytes, "latin1");
  return { close: () => socket.destroy() };
}
