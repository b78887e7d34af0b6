// @ts-check
// npm run torture -- --rounds 50 --seed 1 --store sqlite|postgres|both
//
// Runs real servers under load, kills them at random moments and checks what they acknowledged. Exits 1 and keeps
// everything when something was lost, doubled or wrong. The seed decides what is done and when; it cannot decide how
// the machine interleaves it.
import { parseArgs } from "node:util";
import { complaints, table } from "./report.js";
import { SCENARIOS } from "./scenarios.js";
import { torture } from "./torture.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    store: { type: "string", default: "both" },
    scenario: { type: "string" },
    actors: { type: "string", default: "24" },
    "think-ms": { type: "string", default: "20" },
  },
});

const chosen = Object.entries(SCENARIOS).filter(([name, { store }]) =>
  values.scenario === undefined ? values.store === "both" || values.store === store : values.scenario === name,
);
if (chosen.length === 0) {
  console.error(`--store is sqlite, postgres or both; --scenario is one of ${Object.keys(SCENARIOS).join(", ")}`);
  process.exit(2);
}

const reports = [];
for (const [name, scenario] of chosen) {
  console.log(`\n${scenario.title} (--scenario ${name} --seed ${values.seed} --rounds ${values.rounds})`);
  const report = await torture({
    scenario,
    rounds: Number(values.rounds),
    seed: Number(values.seed),
    actors: Number(values.actors),
    thinkMs: Number(values["think-ms"]),
    say: (line) => console.log(`  ${line}`),
  });
  if (report.journal.counts.violations > 0) console.error(complaints(report));
  reports.push(report);
}

console.log(`\n${table(reports)}`);
process.exit(reports.some(({ journal }) => journal.counts.violations > 0) ? 1 : 0);
