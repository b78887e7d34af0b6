import { describe, expect, test } from "vitest";
import { complaints } from "./report.js";
import { SCENARIOS, type Scenario } from "./scenarios.js";
import { torture } from "./torture.js";

const limitMs = 120_000;

/** A few disasters each; `npm run torture` does the same for as long as one likes. */
const CASES: readonly { readonly name: string; readonly rounds: number }[] = [
  { name: "sqlite", rounds: 2 },
  { name: "postgres", rounds: 2 },
  { name: "database", rounds: 1 },
];

describe("under load and random SIGKILLs, nothing acknowledged is lost, doubled or wrong", () => {
  for (const { name, rounds } of CASES) {
    const scenario = SCENARIOS[name] as Scenario;
    test(scenario.title, { timeout: limitMs }, async () => {
      // Time decides the moments, and the complaint names the seed.
      const seed = Date.now() % 1_000_000;
      const report = await torture({ scenario, rounds, seed, actors: 12, thinkMs: 40 });
      expect(complaints(report), `seed ${seed}`).toBe("");
      // Enough for the disasters to meet some; how many there are depends on the machine.
      expect(report.journal.writes).toBeGreaterThan(10);
      expect(report.kills + report.freezes).toBeGreaterThanOrEqual(rounds);
    });
  }
});
