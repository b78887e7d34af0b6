// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { KilledEarly, startAssay } from "../assay-process.js";

/** @typedef {import("../assay-process.js").AssayProcess} AssayProcess */

/** The servers under test. Each has a place; what runs in it changes with every crash. */
export class Fleet {
  kills = 0;
  freezes = 0;
  starts = 0;
  /** @type {(AssayProcess | undefined)[]} */
  #places;
  #options;

  /**
   * @param {number} size
   * @param {{ args: readonly string[], logFile: (place: number) => string }} options
   */
  constructor(size, options) {
    this.#places = Array.from({ length: size }, () => undefined);
    this.#options = options;
  }

  get size() {
    return this.#places.length;
  }

  get alive() {
    return this.#places.filter((one) => one?.isAlive()).length;
  }

  /** @param {number} place */
  async start(place) {
    this.#places[place] = await this.#launch(place);
  }

  /** All of them, one after the other: the first makes the schema. */
  async startAll() {
    for (const place of this.#places.keys()) if (!this.#places[place]?.isAlive()) await this.start(place);
  }

  /** @param {number} place */
  async kill(place) {
    const victim = this.#places[place];
    if (!victim?.isAlive()) return;
    this.kills += 1;
    // The clients learn of it by their connections, not from us.
    await victim.kill();
  }

  /**
   * Starts a server and kills it before it is ready, or right after.
   * @param {number} place
   * @param {number} afterMs
   */
  async startAndKill(place, afterMs) {
    const killEarly = AbortSignal.timeout(afterMs);
    this.kills += 1;
    try {
      const started = await this.#launch(place, killEarly);
      await started.kill();
    } catch (error) {
      if (!(error instanceof KilledEarly)) throw error;
    }
  }

  /**
   * Stops a server's clock: when it goes on, it believes that it holds what others have taken over meanwhile.
   * @param {number} place
   * @param {number} forMs
   */
  async freeze(place, forMs) {
    const victim = this.#places[place];
    if (!victim?.isAlive()) return;
    this.freezes += 1;
    victim.freeze();
    await sleep(forMs);
    victim.thaw();
  }

  /** SIGTERM to all, and the exit codes. */
  stopAll() {
    return Promise.all(this.#places.map((one) => one?.stop()));
  }

  async killAll() {
    await Promise.all(this.#places.map((one) => (one?.isAlive() ? one.kill() : undefined)));
  }

  /**
   * The address of some server; waits while there is none. It may be dead by the time it is used.
   * @param {import("./random.js").Random} random
   * @returns {Promise<string>}
   */
  async anyUrl(random) {
    for (;;) {
      const there = this.#places.filter((one) => one?.isAlive());
      if (there.length > 0) return /** @type {AssayProcess} */ (random.pick(there)).url;
      await sleep(5);
    }
  }

  /** @param {string} url */
  answersAt(url) {
    return this.#places.some((one) => one?.url === url && one.isAlive());
  }

  /**
   * @param {number} place
   * @param {AbortSignal} [killEarly]
   */
  async #launch(place, killEarly) {
    const { args, logFile } = this.#options;
    this.starts += 1;
    return startAssay({ args, logFile: logFile(place), ...(killEarly === undefined ? {} : { killEarly }) });
  }
}
