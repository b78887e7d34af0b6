import { describe, expect, test } from "vitest";
import {
  TRIGGER_RULES,
  type TriggerRule,
  type WorkflowDefinition,
  type WorkflowEdge,
} from "../../../protocol/workflows/workflow.ts";
import { codeOf } from "../../../testing/judges.ts";
import { pick, type Random, randomFrom } from "../../../testing/random-workflow.ts";
import { type Simulation, simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";

/** More runs by hand: `ASSAY_TEST_RANDOM_RUNS=20000`. */
const RUNS = Number(process.env["ASSAY_TEST_RANDOM_RUNS"] ?? 400);

const GOVERNED = "core.openwop.governance.approvalGate";
const NODES = [
  { typeId: "core.noop" },
  { typeId: "core.noop", disabled: true },
  { typeId: "core.fail" },
  { typeId: "core.delay", config: { ms: 500 } },
  { typeId: "core.approvalGate", config: { actions: ["accept", "reject", "refine"], timeoutMs: 60_000 } },
  { typeId: GOVERNED, config: { requiredRole: "reviewer", timeoutSec: 60 } },
  { typeId: GOVERNED, config: { requiredRole: "reviewer" } },
];
const ANSWERS: Readonly<Record<string, readonly object[]>> = {
  "core.approvalGate": [
    { action: "accept" },
    { action: "reject" },
    { action: "refine", refineFeedback: { scope: "whole" } },
  ],
  [GOVERNED]: [{ decision: "granted" }, { decision: "rejected" }],
};
const REJECTED = { type: "notEquals", left: "output.outcome", right: "granted" } as const;
/** All but the last hold for a gate that was passed. */
const CONDITIONS = [
  undefined,
  undefined,
  { type: "expression", expression: "true" },
  { type: "equals", left: "output.approved", right: true },
  { type: "notEquals", left: "output.decision", right: "no such thing" },
  REJECTED,
] as const;

function randomGates(random: Random): WorkflowDefinition {
  const count = 2 + Math.floor(random() * 6);
  const ids = Array.from({ length: count }, (_, n) => `n${n}`);
  const edges: object[] = [];
  for (let to = 1; to < count; to++) {
    for (let from = 0; from < to; from++) {
      if (random() > 1.6 / to) continue;
      const condition = pick(random, CONDITIONS);
      const triggerRule = pick(random, ["all_success", "all_success", ...TRIGGER_RULES] as TriggerRule[]);
      edges.push({ from: ids[from], to: ids[to], triggerRule, ...(condition === undefined ? {} : { condition }) });
    }
  }
  if (random() < 0.5) {
    const from = Math.floor(random() * count);
    edges.push({ from: ids[from], to: ids[Math.floor(random() * (from + 1))], condition: REJECTED });
  }
  const nodes = Object.fromEntries(ids.map((id) => [id, pick(random, NODES)]));
  return workflow({ nodes, edges: edges as never, settings: { maxLoopbackIterations: 2 } });
}

/** Answers and lets time pass as it comes, until the run ends or nothing more is asked. */
function live(random: Random, definition: WorkflowDefinition): Simulation {
  const run = simulate(definition).turn();
  for (let step = 0; step < 40; step++) {
    const open = Object.values(run.run.interrupts).filter(({ status }) => status === "open");
    if (open.length > 0 && random() < 0.8) {
      const { nodeId } = pick(random, open);
      const { typeId } = definition.nodes.find(({ id }) => id === nodeId) ?? { typeId: "" };
      codeOf(() => run.resolve(nodeId, pick(random, ANSWERS[typeId] ?? [])));
    }
    run.advance(Math.floor(random() * 20_000)).turn();
  }
  return run;
}

/** How each gate stood when each node started, read from the log alone. */
function expectNothingOpenedByAccident({ events, plan }: Simulation, { nodes }: WorkflowDefinition): void {
  const gates = new Set(nodes.filter(({ typeId }) => ANSWERS[typeId] !== undefined).map(({ id }) => id));
  const outcomes = new Map<string, string>();
  const passes = ({ sourceNodeId }: WorkflowEdge) => outcomes.get(sourceNodeId) === "granted";
  for (const event of events) {
    if (event.type === "assay.loop.entered") for (const id of event.payload.nodeIds) outcomes.delete(id);
    if (event.type === "interrupt.resolved") outcomes.set(event.payload.nodeId, event.payload.outcome);
    if (event.type !== "node.started") continue;
    const into = plan.graph.forwardInto.get(event.payload.nodeId) ?? [];
    for (const rule of new Set(into.map(({ triggerRule }) => triggerRule ?? "all_success"))) {
      const group = into.filter(({ triggerRule }) => (triggerRule ?? "all_success") === rule);
      // What leads on from a rejection is no way through the gate, and neither is a rule for failures.
      const ways = group.filter(
        ({ sourceNodeId, condition }) => gates.has(sourceNodeId) && condition?.left !== REJECTED.left,
      );
      const guarded = { nodeId: event.nodeId, rule, at: event.sequence };
      if (rule === "all_success") expect({ ...guarded, open: ways.every(passes) }).toEqual({ ...guarded, open: true });
      if (rule === "none_failed") {
        const stopped = ways.some((edge) => outcomes.has(edge.sourceNodeId) && !passes(edge));
        expect({ ...guarded, stopped }).toEqual({ ...guarded, stopped: false });
      }
      if (rule === "any_success" && ways.length === group.length && group.length > 0) {
        expect({ ...guarded, open: ways.some(passes) }).toEqual({ ...guarded, open: true });
      }
    }
  }
}

/** A run that completed has passed every gate, or did something about each that it did not pass. */
function expectNothingIgnored({ run }: Simulation, { edges, nodes }: WorkflowDefinition): void {
  if (run.status !== "completed") return;
  for (const { id, typeId } of nodes) {
    const last = Object.values(run.interrupts).findLast(({ nodeId }) => nodeId === id);
    if (ANSWERS[typeId] === undefined || run.nodes[id]?.status === "skipped" || last === undefined) continue;
    if (last.outcome === "granted") continue;
    const out = edges.filter(({ sourceNodeId }) => sourceNodeId === id);
    const handled = out.some(
      ({ targetNodeId, condition, triggerRule }) =>
        run.nodes[targetNodeId]?.status !== "skipped" &&
        (condition?.left === REJECTED.left || triggerRule === "any_failed" || triggerRule === "all_complete"),
    );
    expect({ id, outcome: last.outcome, handled: handled || (last.outcome === "refined" && out.length === 0) }).toEqual(
      {
        id,
        outcome: last.outcome,
        handled: true,
      },
    );
  }
}

describe("a workflow of gates, whatever edges lead from them and whatever is answered", () => {
  test(`never starts what a gate guards before it is passed (${RUNS} of them)`, { timeout: RUNS * 50 + 20_000 }, () => {
    const ends = new Map<string, number>();
    for (let seed = 1; seed <= RUNS; seed++) {
      const random = randomFrom(seed);
      const definition = randomGates(random);
      try {
        const run = live(random, definition);
        expectNothingOpenedByAccident(run, definition);
        expectNothingIgnored(run, definition);
        ends.set(run.run.status, (ends.get(run.run.status) ?? 0) + 1);
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    // Otherwise the generator no longer makes what this test is for.
    expect(ends.get("completed")).toBeGreaterThan(RUNS / 20);
    expect(ends.get("failed")).toBeGreaterThan(RUNS / 20);
  });
});
