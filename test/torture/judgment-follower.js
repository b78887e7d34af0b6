// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { NoAnswer, stream } from "./http-client.js";

/**
 * @typedef {import("./tenants.js").Tenant} Tenant
 */

const PATH = "/v1/host/assay/annotations/events";
const drainMaxMs = 30_000;

/** Before every judgment there can be. */
const BEGINNING = `ann-${"0".repeat(26)}`;

/** Follows the judgments of a tenant through every crash: each change once, none left out. */
export class JudgmentFollower {
  #fleet;
  #journal;
  #random;
  #tenant;
  /** Ids of frames in the order they came. @type {string[]} */
  #seen = [];
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
    for (let connection = 0; !this.#over; connection++) {
      if (connection > 0) this.#journal.counts.reconnects += 1;
      const headers = { "last-event-id": this.#seen.at(-1) ?? BEGINNING };
      const url = await this.#fleet.anyUrl(this.#random);
      let framesLeft = this.#random.chance(0.3) ? this.#random.between(1, 50) : Number.POSITIVE_INFINITY;
      try {
        const how = await stream(url, { method: "GET", path: PATH, key: this.#tenant.key, headers }, ({ id }) => {
          this.#seen.push(id);
          framesLeft -= 1;
          return this.#over || framesLeft <= 0;
        });
        if (typeof how === "object" && how.status !== 503) {
          this.#journal.violation("a follower of judgments was refused", { status: how.status, text: how.text });
        }
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
      }
      if (!this.#over) await sleep(this.#random.between(1, 40));
    }
  }

  /**
   * Waits until everything that happened has been heard of, and compares.
   * @param {readonly { annotationId: string, state: string, flag?: { status: string } }[]} judgments oldest first
   */
  async check(judgments) {
    const wanted = new Set();
    for (const { annotationId, state, flag } of judgments) {
      wanted.add(annotationId);
      if (state !== "live") wanted.add(`${annotationId}.${state}`);
      if (flag?.status === "closed") wanted.add(`${annotationId}.closed`);
    }
    const endMs = Date.now() + drainMaxMs;
    const missing = () => {
      const seen = new Set(this.#seen);
      return [...wanted].filter((id) => !seen.has(id));
    };
    while (missing().length > 0 && Date.now() < endMs) await sleep(100);
    this.#over = true;
    for (const id of missing()) this.#journal.violation("a change of a judgment was lost to its follower", { id });
    if (new Set(this.#seen).size !== this.#seen.length) {
      const repeated = this.#seen.filter((id, i) => this.#seen.indexOf(id) !== i);
      this.#journal.violation("a follower of judgments heard of a change twice", { repeated });
    }
  }

  stop() {
    this.#over = true;
  }
}
