// @ts-check
// npm run torture:agents -- --rounds 50 --seed 1 --store sqlite|postgres|both
//
// As `npm run torture`, for evaluations, agents in workflows, supervisors and deployments: real servers whose agents are real programs are
// killed at random moments. Exits 1 and keeps everything when a task was run again that had its score, scored twice or left out, when
// figures differ from those of an undisturbed evaluation, or when a transition came about twice or not at all.
import { parseArgs } from "node:util";
import { complaints } from "../report.js";
import { SCENARIOS } from "../scenarios.js";
import { tortureAgents } from "./torture.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    store: { type: "string", default: "both" },
    scenario: { type: "string" },
    actors: { type: "string", default: "8" },
  },
});

const chosen = Object.entries(SCENARIOS).filter(([name, { store }]) =>
  values.scenario === undefined ? values.store === "both" || values.store === store : values.scenario === name,
);
if (chosen.length === 0) {
  console.error(`--store is sqlite, postgres or both; --scenario is one of ${Object.keys(SCENARIOS).join(", ")}`);
  process.exit(2);
}

let wrong = 0;
for (const [name, scenario] of chosen) {
  console.log(`\n${scenario.title} (--scenario ${name} --seed ${values.seed} --rounds ${values.rounds})`);
  const report = await tortureAgents({
    scenario,
    rounds: Number(values.rounds),
    seed: Number(values.seed),
    actors: Number(values.actors),
    say: (line) => console.log(`  ${line}`),
  });
  const { kills, freezes, journal, found, tookMs } = report;
  if (journal.counts.violations > 0) console.error(complaints(report));
  wrong += journal.counts.violations;
  console.log(
    JSON.stringify({
      kills,
      freezes,
      ...journal.acknowledged,
      ...journal.counts,
      ...found,
      seconds: Math.round(tookMs / 1000),
    }),
  );
}
process.exit(wrong > 0 ? 1 : 0);
