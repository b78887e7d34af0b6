import { expect } from "vitest";
import { type ANA, codeOf } from "./judges.ts";
import { type Simulation, simulate } from "./simulate.ts";
import { expectStillWaits } from "./waiting-run.ts";
import { workflow } from "./workflow.ts";

type Config = Readonly<Record<string, unknown>>;

/** A plain gate that waits, and `next` after it. */
export function waitingGate(config: Config = {}): Simulation {
  const nodes = { gate: { typeId: "core.approvalGate", config }, next: "core.noop" };
  return simulate(workflow({ nodes, edges: ["gate>next"] })).turn();
}

/** A governed gate that waits. `next` follows it; after a rejection, `repair` does. */
export function waitingGovernedGate(config: Config = { requiredRole: "reviewer" }): Simulation {
  const typeId = "core.openwop.governance.approvalGate";
  const nodes = { gate: { typeId, config }, next: "core.noop", repair: "core.noop" };
  const condition = { type: "equals", left: "output.decision", right: "rejected" } as const;
  return simulate(workflow({ nodes, edges: ["gate>next", { from: "gate", to: "repair", condition }] })).turn();
}

export function expectRefused(run: Simulation, by: typeof ANA, value: object, code = "forbidden"): void {
  expect(codeOf(() => run.resolve("gate", value, by))).toBe(code);
  expectStillWaits(run);
}
