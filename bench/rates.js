// @ts-check
import { cpuOf, syncMs } from "./machine.js";
import { median, ratios, spread } from "./statistics.js";

/**
 * @typedef {import("./subjects.js").Subject} Subject
 * @typedef {import("./closed-loop.js").Rate} Rate
 */

/**
 * @typedef {object} Measured
 * @property {readonly string[]} names
 * @property {readonly number[]} connections
 * @property {number[]} fsyncMs
 * @property {Record<string, { perSecond: number[], p50Ms: number[], p99Ms: number[], cpuUs: number[] }>} data by name and
 *   connections
 */

/**
 * Each subject at each number of connections, round by round, starting with another one each time.
 * @param {import("./sections.js").Bench} bench
 * @param {readonly Subject[]} subjects
 * @param {readonly number[]} connections
 * @param {(subject: Subject, connections: number, seconds: number) => Promise<Rate>} measure
 * @returns {Promise<Measured>}
 */
export async function inTurns({ laboratory, pace }, subjects, connections, measure) {
  /** @type {Measured} */
  const measured = { names: subjects.map(({ name }) => name), connections, fsyncMs: [], data: {} };
  for (const subject of subjects) await measure(subject, 16, pace.warmUpSeconds);
  for (let round = 0; round < pace.rounds; round++) {
    for (const many of connections) {
      measured.fsyncMs.push(median(syncMs(laboratory.folder)));
      for (let i = 0; i < subjects.length; i++) {
        const subject = /** @type {Subject} */ (subjects[(i + round) % subjects.length]);
        const before = cpuOf(subject.processes.map(({ pid }) => pid));
        const rate = await measure(subject, many, pace.seconds);
        const usedMs = rate.cpuMs ?? cpuOf(subject.processes.map(({ pid }) => pid)) - before;
        const cpuUs = (usedMs * 1000) / rate.count;
        const name = `${subject.name} ${many}`;
        const into = measured.data[name] ?? { perSecond: [], p50Ms: [], p99Ms: [], cpuUs: [] };
        measured.data[name] = into;
        into.perSecond.push(rate.perSecond);
        into.p50Ms.push(rate.p50Ms);
        into.p99Ms.push(rate.p99Ms);
        into.cpuUs.push(cpuUs);
      }
    }
  }
  return measured;
}

/**
 * @param {Measured} measured
 * @param {string} [baseline] whose rate is 1
 */
export function rateTable({ names, connections, data, fsyncMs }, baseline = names[0]) {
  const rows = connections.flatMap((many) =>
    names.map((name) => {
      const found = data[`${name} ${many}`];
      const base = data[`${baseline} ${many}`];
      if (found === undefined || base === undefined) return [name];
      const ratio = spread(ratios(found.perSecond, base.perSecond), 2);
      const latency = `${median(found.p50Ms).toFixed(1)} / ${median(found.p99Ms).toFixed(1)}`;
      return [`${name}, ${many} conn.`, spread(found.perSecond), ratio, latency, spread(found.cpuUs)];
    }),
  );
  return [
    ["", "per second", `ratio to ${baseline}`, "p50 / p99 ms", "server CPU µs each"],
    ...rows,
    ["fdatasync of 4 kB meanwhile, ms", spread(fsyncMs, 2), "", "", ""],
  ];
}
