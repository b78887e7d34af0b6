// @ts-check
// npm run bench -- [--quick] [--only NAME,…] [--json FILE] [--cpu-prof DIR] [--beside CHECKOUT]
//
// Real servers in processes of their own, driven over loopback by one more process. Everything that is compared is
// measured in the same run, in turns, round by round: figures of different runs are not comparable, ratios are.
// With --cpu-prof every server leaves a profile of each of its threads in DIR; the figures are then those of profiling.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { beside } from "./beside.js";
import { startLoad } from "./load.js";
import { describeMachine } from "./machine.js";
import { SECTIONS } from "./sections.js";
import { Laboratory } from "./subjects.js";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    beside: { type: "string" },
    json: { type: "string" },
    "cpu-prof": { type: "string" },
  },
});
const only = values.only?.split(",");
const unknown = only?.find((name) => !Object.hasOwn(SECTIONS, name));
if (unknown !== undefined) {
  console.error(`There is no section ${unknown}; --only takes ${Object.keys(SECTIONS).join(", ")}.`);
  process.exit(2);
}

const nodeArgs = values["cpu-prof"] === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", resolve(values["cpu-prof"])];
const pace = values.quick ? { rounds: 2, seconds: 0.7, warmUpSeconds: 1 } : { rounds: 7, seconds: 2, warmUpSeconds: 3 };
console.log(`Machine: ${describeMachine()}`);
console.log(`Method: ${pace.rounds} rounds of ${pace.seconds} s in turns; median [lowest–highest] over rounds.`);
console.log("Every request is answered after its commit is on disk. Loopback, keep-alive, closed loop.\n");

/** @type {Record<string, unknown>} */
const raw = { machine: describeMachine(), at: new Date().toISOString(), pace };
const startedMs = performance.now();
let failed = false;
for (const [name, section] of Object.entries(chosenSections())) {
  if (only !== undefined && !only.includes(name)) continue;
  // A fresh laboratory each: what one section left behind must not weigh on the next.
  const laboratory = new Laboratory(nodeArgs);
  const load = startLoad();
  try {
    const { title, note, table, data, problems = [] } = await section({ laboratory, load, pace });
    console.log(`${title}\n${note}\n${format(table)}\n`);
    for (const problem of problems) console.log(`PROBLEM: ${problem}`);
    failed ||= problems.length > 0;
    raw[name] = data;
  } finally {
    load.stop();
    await laboratory.close();
  }
}
console.log(`Took ${Math.round((performance.now() - startedMs) / 1000)} s.`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(raw, null, 2)}\n`);
process.exit(failed ? 1 : 0);

/** @returns {typeof SECTIONS} */
function chosenSections() {
  const { beside: checkout } = values;
  return checkout === undefined ? SECTIONS : { beside: (bench) => beside(bench, resolve(checkout)) };
}

/** @param {readonly (readonly string[])[]} rows the first is the heading */
function format(rows) {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    )
    .map((line, i) => (i === 0 ? `${line}\n${"-".repeat(line.length)}` : line))
    .join("\n");
}
