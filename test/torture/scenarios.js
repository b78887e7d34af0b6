// @ts-check
import { setTimeout as sleep } from "node:timers/promises";

/**
 * @typedef {import("./fleet.js").Fleet} Fleet
 * @typedef {import("./random.js").Random} Random
 * @typedef {import("../start-postgres.js").TestPostgres} TestPostgres
 *
 * @typedef {object} Scenario
 * @property {string} title
 * @property {"sqlite" | "postgres"} store
 * @property {number} hosts
 * @property {"hosts" | "database"} kills
 * @property {readonly string[]} args of each server
 * @property {(fleet: Fleet, random: Random, postgres: TestPostgres | undefined) => Promise<void>} round one disaster and
 *   the recovery from it
 */

// A dead host's runs are free again after a second, so that take-over happens within a round and not after it.
const soonFree = ["--lease-ms", "1000", "--lease-renew-ms", "300", "--sweep-ms", "100"];

/** @type {Record<string, Scenario>} */
export const SCENARIOS = {
  sqlite: {
    title: "SQLite, one host killed",
    store: "sqlite",
    hosts: 1,
    kills: "hosts",
    args: [],
    round: async (fleet, random) => {
      await sleep(random.between(20, 900));
      await fleet.kill(0);
      while (random.chance(0.25)) await fleet.startAndKill(0, random.between(50, 700));
      await fleet.start(0);
    },
  },
  postgres: {
    title: "PostgreSQL, two hosts, killed or frozen",
    store: "postgres",
    hosts: 2,
    kills: "hosts",
    args: soonFree,
    round: async (fleet, random) => {
      await sleep(random.between(20, 700));
      if (random.chance(0.25)) return fleet.freeze(random.pick([0, 1]), random.between(1100, 1800));
      const victims = random.weighted([
        [3, [0]],
        [3, [1]],
        [2, [0, 1]],
      ]);
      await Promise.all(victims.map((place) => fleet.kill(place)));
      if (random.chance(0.15)) await fleet.startAndKill(random.pick(victims), random.between(50, 700));
      // The survivor takes over what the dead one held, or not before it is back.
      await sleep(random.chance(0.5) ? random.between(0, 100) : random.between(500, 1500));
      await Promise.all(victims.map((place) => fleet.start(place)));
    },
  },
  database: {
    title: "PostgreSQL itself killed under two hosts",
    store: "postgres",
    hosts: 2,
    kills: "database",
    args: soonFree,
    round: async (fleet, random, postgres) => {
      await sleep(random.between(100, 1000));
      await postgres?.kill();
      await sleep(random.between(0, 1500));
      await postgres?.restart();
      await sleep(random.between(200, 600));
      if (fleet.alive < fleet.size) throw new Error("A host ended when its database did.");
    },
  },
};
