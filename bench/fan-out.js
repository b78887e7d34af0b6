// @ts-check
import { quantile, ratios, spread } from "./statistics.js";
import { KEY, WAIT } from "./subjects.js";

const connections = 1000;

/**
 * One event to a thousand streams, beside a bare loop that writes the same bytes.
 * @param {import("./sections.js").Bench} bench
 * @returns {Promise<import("./sections.js").Finding>}
 */
export async function fanOut({ laboratory, load, pace }) {
  const events = pace.rounds > 2 ? 20 : 8;
  const bare = await laboratory.bare();
  const subjects = [await laboratory.sqlite(), await laboratory.postgres()];
  /** @type {string[]} */
  const problems = [];
  /** @type {Record<string, Record<"p50" | "p99" | "spread99", number[]>>} */
  const data = {};
  let frame = "";
  const note = (/** @type {string} */ name, /** @type {number[][]} */ latencies) => {
    const found = data[name] ?? { p50: [], p99: [], spread99: [] };
    data[name] = found;
    found.p50.push(quantile(latencies.flat(), 0.5));
    found.p99.push(quantile(latencies.flat(), 0.99));
    const sinceFirst = latencies.flatMap((event) => event.map((ms) => ms - Math.min(...event)));
    found.spread99.push(quantile(sinceFirst, 0.99));
  };
  // The first round warms up and is thrown away.
  for (let round = 0; round <= pace.rounds; round++) {
    for (const subject of subjects) {
      const job = { port: subject.ports[0] ?? 0, key: KEY, workflowId: WAIT, connections, events };
      const found = await load.ask("fanOut", job);
      frame = found.frame;
      problems.push(...found.problems.slice(0, 3).map((problem) => `${subject.name}: ${problem}`));
      if (round > 0) note(subject.name, found.latencies);
    }
    const found = await load.ask("bareFanOut", { port: bare.ports[0] ?? 0, frame, connections, events });
    problems.push(...found.problems.slice(0, 3));
    if (round > 0) note(bare.name, found.latencies);
  }
  const base = data[bare.name] ?? { p50: [], p99: [], spread99: [] };
  const rows = Object.entries(data).map(([name, { p50, p99, spread99 }]) => [
    name,
    spread(p50, 1),
    spread(ratios(p50, base.p50), 2),
    spread(p99, 1),
    spread(ratios(p99, base.p99), 2),
    spread(spread99, 1),
    spread(ratios(spread99, base.spread99), 2),
  ]);
  return {
    title: `One event to ${connections} streams`,
    note:
      `Milliseconds from sending the request that causes the event until each stream has it, commit included; then ` +
      `from the first stream that has it to the others. ${events} events of ${frame.length} bytes a round. The bare ` +
      "loop commits nothing. A frame that is lost or repeated is a problem and named below.",
    table: [["", "p50 ms", "ratio", "p99 ms", "ratio", "p99 after the first, ms", "ratio"], ...rows],
    data,
    problems,
  };
}
