// @ts-check
import { Agent, request as httpRequest } from "node:http";

/**
 * @typedef {object} Call
 * @property {"GET" | "POST"} method
 * @property {string} path
 * @property {string} key the API key
 * @property {unknown} [body]
 * @property {Record<string, string>} [headers]
 * @property {number} [timeoutMs]
 * @property {(id: string) => void} [onId] is told of ids that come without data
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {string} text
 * @property {any} json undefined when the body is not JSON
 */

/** The connection failed: whether the request took effect is not known. */
export class NoAnswer extends Error {
  /**
   * @param {string} message
   * @param {boolean} timedOut
   */
  constructor(message, timedOut) {
    super(message);
    this.timedOut = timedOut;
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 512, maxFreeSockets: 512 });
const patienceMs = 30_000;

/**
 * One request, one answer; throws `NoAnswer` when there is none. Never repeats by itself.
 * @param {string} base
 * @param {Call} call
 * @returns {Promise<Answer>}
 */
export function send(base, call) {
  return new Promise((resolve, reject) => {
    const request = open(base, call, reject);
    request.on("response", (response) => {
      /** @type {Buffer[]} */
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", (error) => reject(new NoAnswer(error.message, false)));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        if (!response.complete) return reject(new NoAnswer("the answer was cut off", false));
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
      });
    });
  });
}

/**
 * @typedef {object} Frame
 * @property {string} id
 * @property {string} event
 * @property {string} data
 */

/**
 * Follows an event stream. `onFrame` returns true to hang up. Resolves with "ended" when the server closed the stream
 * in order, with "left" after hanging up, and with the answer when it is not a stream.
 * @param {string} base
 * @param {Call} call
 * @param {(frame: Frame) => boolean} onFrame
 * @returns {Promise<"ended" | "left" | Answer>}
 */
export function stream(base, call, onFrame) {
  return new Promise((resolve, reject) => {
    const headers = { accept: "text/event-stream", ...call.headers };
    const request = open(base, { ...call, headers }, reject);
    request.on("response", (response) => {
      let text = "";
      const isStream = response.headers["content-type"]?.startsWith("text/event-stream") ?? false;
      response.setEncoding("utf8");
      response.on("error", (error) => reject(new NoAnswer(error.message, false)));
      response.on("data", (chunk) => {
        text += chunk;
        if (!isStream) return;
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const block = text.slice(0, end);
          const frame = toFrame(block);
          text = text.slice(end + 2);
          const bare = frame === undefined ? /^id: ?(.*)$/m.exec(block)?.[1] : undefined;
          if (bare !== undefined) call.onId?.(bare);
          if (frame === undefined || !onFrame(frame)) continue;
          resolve("left");
          request.destroy();
          return;
        }
      });
      response.on("end", () => {
        if (!response.complete) reject(new NoAnswer("the stream was cut off", false));
        else if (isStream) resolve("ended");
        else resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
      });
    });
  });
}

/**
 * @param {string} base
 * @param {Call} call
 * @param {(error: NoAnswer) => void} reject
 */
function open(base, { method, path, key, body, headers = {}, timeoutMs = patienceMs }, reject) {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const request = httpRequest(`${base}${path}`, {
    method,
    agent,
    headers: {
      authorization: `Bearer ${key}`,
      ...(payload === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
  });
  request.setTimeout(timeoutMs, () => request.destroy(new NoAnswer("no answer in time", true)));
  request.on("error", (error) => reject(error instanceof NoAnswer ? error : new NoAnswer(error.message, false)));
  request.end(payload);
  return request;
}

/** @param {string} block */
function toFrame(block) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "");
  }
  const { id, event = "message", data } = fields;
  // A block of comments is a keep-alive.
  return data === undefined ? undefined : { id: id ?? "", event, data };
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
