// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { NoAnswer, stream } from "./http-client.js";

/**
 * @typedef {import("./tenants.js").Tenant} Tenant
 *
 * @typedef {object} Connection
 * @property {string} url of the host
 * @property {string} after the `Last-Event-ID` that was sent
 * @property {string} [place] where the host says that the stream begins
 * @property {number} frames that came
 * @property {string} [end] how it ended
 *
 * @typedef {object} Seen
 * @property {string} id of the frame: a place in the history
 * @property {string} change the annotation and what happened to it
 * @property {number} connection
 */

const PATH = "/v1/host/assay/annotations/events";
const drainMaxMs = 30_000;
const BEGINNING = "at-0.0";
/** How much of what came around a loss is told with it. */
const AROUND = 3;

/** Follows the judgments of a tenant through every crash: each change once, none left out. */
export class JudgmentFollower {
  #fleet;
  #journal;
  #random;
  #tenant;
  /** Frames in the order they came. @type {Seen[]} */
  #seen = [];
  /** @type {Connection[]} */
  #connections = [];
  #over = false;

  /**
   * @param {{ fleet: import("./fleet.js").Fleet, journal: import("./journal.js").Journal }} world
   * @param {import("./random.js").Random} random
   * @param {Tenant} tenant
   */
  constructor({ fleet, journal }, random, tenant) {
    this.#fleet = fleet;
    this.#journal = journal;
    this.#random = random;
    this.#tenant = tenant;
  }

  async follow() {
    while (!this.#over) {
      if (this.#connections.length > 0) this.#journal.counts.reconnects += 1;
      await this.#connect();
      if (!this.#over) await sleep(this.#random.between(1, 40));
    }
  }

  async #connect() {
    const after = this.#seen.at(-1)?.id ?? BEGINNING;
    const url = await this.#fleet.anyUrl(this.#random);
    const number = this.#connections.length;
    /** @type {Connection} */
    const connection = { url, after, frames: 0 };
    this.#connections.push(connection);
    let framesLeft = this.#random.chance(0.3) ? this.#random.between(1, 50) : Number.POSITIVE_INFINITY;
    const call = { method: /** @type {const} */ ("GET"), path: PATH, key: this.#tenant.key };
    const onId = (/** @type {string} */ id) => {
      connection.place ??= id;
    };
    try {
      const how = await stream(url, { ...call, headers: { "last-event-id": after }, onId }, ({ id, event, data }) => {
        this.#seen.push({ id, change: changeOf(event, JSON.parse(data).annotationId), connection: number });
        connection.frames += 1;
        framesLeft -= 1;
        return this.#over || framesLeft <= 0;
      });
      connection.end = typeof how === "object" ? `status ${how.status}` : how;
      if (typeof how === "object" && how.status !== 503) {
        this.#journal.violation("a follower of judgments was refused", { status: how.status, text: how.text });
      }
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      connection.end = error.message;
    }
  }

  /**
   * Waits until everything that happened has been heard of, and compares.
   * @param {readonly { annotationId: string, state: string, flag?: { status: string } }[]} judgments oldest first
   * @param {(change: string) => void} lost is told of each change that did not come
   */
  async check(judgments, lost) {
    const wanted = new Set();
    for (const { annotationId, state, flag } of judgments) {
      wanted.add(annotationId);
      if (state !== "live") wanted.add(`${annotationId}.${state}`);
      if (flag?.status === "closed") wanted.add(`${annotationId}.closed`);
    }
    const endMs = Date.now() + drainMaxMs;
    const missing = () => {
      const seen = new Set(this.#seen.map(({ change }) => change));
      return [...wanted].filter((change) => !seen.has(change));
    };
    while (missing().length > 0 && Date.now() < endMs) await sleep(100);
    this.#over = true;
    for (const change of missing()) lost(change);
    this.#checkOrder();
  }

  #checkOrder() {
    const changes = this.#seen.map(({ change }) => change);
    if (new Set(changes).size !== changes.length) {
      const repeated = changes.filter((change, i) => changes.indexOf(change) !== i);
      this.#journal.violation("a follower of judgments heard of a change twice", { repeated });
    }
    for (const [i, { id }] of this.#seen.entries()) {
      const before = this.#seen[i - 1];
      if (before !== undefined && numberOf(before.id) >= numberOf(id)) {
        this.#journal.violation("a follower of judgments heard of changes out of order", this.#around(id));
      }
    }
  }

  /**
   * A change that is in the history and did not come, with what came before and after its place.
   * @param {string} change
   * @param {string | undefined} place undefined: the history does not have it
   */
  lost(change, place) {
    const tenant = this.#tenant.tenant;
    if (place === undefined)
      return this.#journal.violation("a change of a judgment is lost from the history", { tenant, change });
    this.#journal.violation("a change of a judgment was lost to its follower", {
      tenant,
      change,
      place,
      ...this.#around(place),
    });
  }

  /** @param {string} place */
  #around(place) {
    const next = this.#seen.findIndex(({ id }) => numberOf(id) >= numberOf(place));
    const at = next < 0 ? this.#seen.length : next;
    const frames = this.#seen.slice(Math.max(0, at - AROUND), at + AROUND);
    const numbers = frames.map(({ connection }) => connection);
    const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
    const connections = this.#connections.slice(Math.max(0, first - 1), last + 2);
    return { frames, connections, seen: this.#seen.length };
  }

  stop() {
    this.#over = true;
  }
}

/** Larger for a later place. @param {string} id `at-SEQ.N` */
function numberOf(id) {
  const [seq, n] = id.slice(3).split(".").map(Number);
  return (seq ?? 0) * 1e6 + (n ?? 0);
}

/**
 * @param {string} event
 * @param {string} annotationId
 */
function changeOf(event, annotationId) {
  return event === "annotation.recorded" ? annotationId : `${annotationId}.${event.slice("annotation.".length)}`;
}
