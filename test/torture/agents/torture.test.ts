import { describe, expect, test } from "vitest";
import { complaints } from "../report.js";
import { SCENARIOS, type Scenario } from "../scenarios.js";
import { tortureAgents } from "./torture.js";

const limitMs = 120_000;

/** A few disasters each; `npm run torture:agents` does the same for as long as one likes. */
const CASES: readonly { readonly name: string; readonly rounds: number }[] = [
  { name: "sqlite", rounds: 1 },
  { name: "postgres", rounds: 1 },
];

describe("under random SIGKILLs no task is run again that has its score, and nothing is scored, decided or deployed twice", () => {
  for (const { name, rounds } of CASES) {
    const scenario = SCENARIOS[name] as Scenario;
    test(scenario.title, { timeout: limitMs }, async () => {
      const seed = Date.now() % 1_000_000;
      const report = await tortureAgents({ scenario, rounds, seed, actors: 6 });
      expect(complaints(report), `seed ${seed}`).toBe("");
      expect(report.journal.writes).toBeGreaterThan(3);
      expect(report.kills + report.freezes).toBeGreaterThanOrEqual(rounds);
    });
  }
});
