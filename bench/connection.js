// @ts-check
import { connect } from "node:net";

/**
 * @typedef {object} Reply
 * @property {number} status
 * @property {string} body
 */

/**
 * One keep-alive HTTP/1.1 connection that has one request under way at a time. Requests are ready-made bytes and
 * answers are cut out by their Content-Length: little enough work that the client is not what is measured.
 */
export class Connection {
  #socket;
  #pending = "";
  /** @type {((reply: Reply) => void) | undefined} */
  #resolve;
  /** @type {((error: Error) => void) | undefined} */
  #reject;

  /** @param {import("node:net").Socket} socket */
  constructor(socket) {
    this.#socket = socket;
    // Headers and bodies are ASCII, so that a byte is a character and Content-Length can be compared.
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => this.#take(String(chunk)));
    socket.on("error", (error) => this.#reject?.(error));
    socket.on("close", () => this.#reject?.(new Error("the server closed the connection")));
  }

  /**
   * @param {number} port
   * @returns {Promise<Connection>}
   */
  static open(port) {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Connection(socket));
      });
    });
  }

  /**
   * @param {string} bytes
   * @returns {Promise<Reply>}
   */
  send(bytes) {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(bytes, "latin1");
    });
  }

  close() {
    this.#reject = undefined;
    this.#socket.destroy();
  }

  /** @param {string} chunk */
  #take(chunk) {
    this.#pending = this.#pending === "" ? chunk : this.#pending + chunk;
    const head = this.#pending.indexOf("\r\n\r\n");
    if (head < 0) return;
    const length = /content-length: *(\d+)/i.exec(this.#pending.slice(0, head))?.[1];
    if (length === undefined) return this.#reject?.(new Error(`an answer without a length: ${this.#pending}`));
    const end = head + 4 + Number(length);
    if (this.#pending.length < end) return;
    const reply = { status: Number(this.#pending.slice(9, 12)), body: this.#pending.slice(head + 4, end) };
    this.#pending = this.#pending.slice(end);
    this.#resolve?.(reply);
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {string} key
 * @param {unknown} [body]
 */
export function requestBytes(method, path, key, body) {
  const text = body === undefined ? "" : JSON.stringify(body);
  const head = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: Bearer ${key}`];
  if (text !== "") head.push("Content-Type: application/json", `Content-Length: ${text.length}`);
  return `${head.join("\r\n")}\r\n\r\n${text}`;
}
