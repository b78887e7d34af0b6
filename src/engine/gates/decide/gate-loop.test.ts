import { describe, expect, test } from "vitest";
import type { Interrupt } from "../../../protocol/gates/interrupt.ts";
import type { EdgeCondition } from "../../../protocol/workflows/workflow.ts";
import { ANA, BEN, codeOf } from "../../../testing/judges.ts";
import { type Simulation, simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";

const rejected: EdgeCondition = { type: "equals", left: "output.decision", right: "rejected" };
const refined: EdgeCondition = { type: "equals", left: "output.action", right: "refine" };
const GRANT = { decision: "granted" };
const REJECT = { decision: "rejected", reason: "Again." };
const refine = { action: "refine", refineFeedback: { scope: "whole", text: "Shorter." } };

/** draft → gate → publish, and from the gate back to the draft when it is rejected. */
const governed = (config: Readonly<Record<string, unknown>> = {}, settings: Readonly<Record<string, unknown>> = {}) =>
  workflow({
    nodes: {
      draft: "core.noop",
      gate: {
        typeId: "core.openwop.governance.approvalGate",
        config: { requiredRole: "reviewer", ...config },
        inputs: { artifact: { type: "variable", variableName: "text" } },
      },
      publish: "core.noop",
    },
    edges: ["draft>gate", "gate>publish", { from: "gate", to: "draft", condition: rejected }],
    variables: [{ name: "text", type: "object", defaultValue: { title: "One", pages: 3 } }],
    settings,
  });

const interruptsOf = ({ run }: Simulation) => Object.values(run.interrupts) as Interrupt[];
const keysOf = (run: Simulation) => interruptsOf(run).map(({ key, status, outcome }) => [key, status, outcome]);
const countOf = ({ story }: Simulation, one: string) => story.filter((each) => each === one).length;

describe("a governed gate with an edge back from a rejection", () => {
  test("goes round, asks anew under another key, and opens when it is granted then", () => {
    const run = simulate(governed()).turn().resolve("gate", REJECT).turn();
    expect(run.run.status).toBe("waiting-approval");
    expect(countOf(run, "node.started:draft")).toBe(2);
    expect(countOf(run, "node.started:publish")).toBe(0);
    expect(keysOf(run)).toEqual([
      ["gate:0", "resolved", "rejected"],
      ["gate:1", "open", undefined],
    ]);
    run.resolve("gate", GRANT).go();
    expect(run.run.status).toBe("completed");
    expect(countOf(run, "node.started:publish")).toBe(1);
  });

  test("starts every visit without votes", () => {
    const run = simulate(governed({ quorum: 2 })).turn();
    run.resolve("gate", GRANT, ANA).resolve("gate", REJECT, BEN).turn();
    expect(interruptsOf(run).at(-1)).toMatchObject({ key: "gate:1", votes: [], remarks: [] });
    run.resolve("gate", GRANT, BEN);
    expect(run.go().run.status).toBe("waiting-approval");
    expect(run.resolve("gate", GRANT, ANA).go().run.status).toBe("completed");
  });

  test("lets somebody who rejected before grant what has changed since", () => {
    const run = simulate(governed()).turn().resolve("gate", REJECT).turn().resolve("gate", GRANT).go();
    expect(run.run.status).toBe("completed");
    expect(run.audit.map(({ action }) => action)).not.toContain("interrupt.vote_refused");
  });

  test("goes round when nobody decides in time, as for a rejection", () => {
    const run = simulate(governed({ timeoutSec: 60 }))
      .turn()
      .advance(60_000)
      .turn();
    expect(keysOf(run)).toEqual([
      ["gate:0", "expired", "rejected"],
      ["gate:1", "open", undefined],
    ]);
    expect(run.resolve("gate", GRANT).go().run.status).toBe("completed");
  });

  test("has a fresh deadline at each visit", () => {
    const run = simulate(governed({ timeoutSec: 60 }))
      .turn()
      .advance(59_000)
      .resolve("gate", REJECT)
      .turn();
    run.advance(59_000).turn();
    expect(run.run.status).toBe("waiting-approval");
    expect(run.resolve("gate", GRANT).go().run.status).toBe("completed");
  });

  test("goes round as often as the workflow allows, and then fails", () => {
    const run = simulate(governed({}, { maxLoopbackIterations: 2 })).turn();
    for (const _ of [1, 2]) run.resolve("gate", REJECT).turn();
    expect(run.run.status).toBe("waiting-approval");
    run.resolve("gate", REJECT).go();
    expect(run.story.slice(-2)).toEqual(["workflow.loopback-limit:draft", "run.failed"]);
    expect(run.events.at(-2)?.payload).toEqual({ nodeId: "draft", iterations: 3, limit: 2 });
    expect(run.run).toMatchObject({ status: "failed", error: { code: "loop_limit_exceeded" } });
    expect(countOf(run, "interrupt.requested:gate")).toBe(3);
    expect(countOf(run, "node.started:publish")).toBe(0);
  });

  test("does not go round by time without end either", () => {
    const run = simulate(governed({ timeoutSec: 1 }, { maxLoopbackIterations: 4 })).go();
    expect(run.run.error?.code).toBe("loop_limit_exceeded");
    expect(countOf(run, "interrupt.requested:gate")).toBe(5);
  });

  test("does not go round along an edge that does not select the rejection", () => {
    const gate = { typeId: "core.openwop.governance.approvalGate", config: { requiredRole: "reviewer" } };
    const always = workflow({ nodes: { draft: "core.noop", gate }, edges: ["draft>gate", "gate>draft"] });
    const run = simulate(always).turn().resolve("gate", REJECT).go();
    expect(run.run).toMatchObject({ status: "failed", error: { code: "approval_rejected" } });
    expect(countOf(run, "node.started:draft")).toBe(1);
  });
});

describe("what a gate shows when it is raised again", () => {
  const write = (text: unknown) => ({ name: "text", next: text, nodeId: "draft" });

  test("is how it ended before, and what of the artifact has changed", () => {
    const run = simulate(governed()).turn().resolve("gate", REJECT);
    const first = interruptsOf(run)[0];
    expect(first?.data).not.toHaveProperty("previous");
    run
      .decide(() => [{ type: "variable.changed", nodeId: "draft", payload: write({ title: "Two", pages: 3 }) }])
      .turn();
    expect(interruptsOf(run).at(-1)?.data).toMatchObject({
      artifactData: { title: "Two", pages: 3 },
      previous: {
        interruptId: first?.interruptId,
        outcome: "rejected",
        reason: "Again.",
        decidedBy: "ana",
        decidedAt: first?.closedAt,
        changes: [{ path: "/title", change: "changed", before: "One", after: "Two" }],
      },
    });
  });

  test("compares with the artifact as it was when it was decided, edits included", () => {
    const looped = workflow({
      nodes: {
        draft: "core.noop",
        gate: {
          typeId: "core.approvalGate",
          config: {
            actions: ["accept", "edit-accept", "refine"],
            requiredApprovals: 2,
            artifactData: { title: "One" },
          },
        },
      },
      edges: ["draft>gate", { from: "gate", to: "draft", condition: refined }],
    });
    const run = simulate(looped).turn();
    run.resolve("gate", { action: "edit-accept", editedArtifactData: { title: "Edited" } }, ANA);
    run.resolve("gate", refine, BEN).turn();
    expect(interruptsOf(run).at(-1)).toMatchObject({
      votes: [],
      data: { previous: { outcome: "refined", changes: [{ path: "/title", before: "Edited", after: "One" }] } },
    });
    expect(interruptsOf(run).at(-1)).not.toHaveProperty("edited");
  });
});

describe("a plain gate with an edge back from a refinement", () => {
  const looped = workflow({
    nodes: {
      draft: "core.noop",
      gate: { typeId: "core.approvalGate", config: { actions: ["accept", "reject", "refine"] } },
      publish: "core.noop",
    },
    edges: ["draft>gate", "gate>publish", { from: "gate", to: "draft", condition: refined }],
  });

  test("goes round for a refinement and opens for an accept", () => {
    const run = simulate(looped).turn().resolve("gate", refine).turn();
    expect(run.run.status).toBe("waiting-approval");
    expect(countOf(run, "node.started:publish")).toBe(0);
    expect(run.resolve("gate", { action: "accept" }).go().run.status).toBe("completed");
  });

  test("fails the run when it is rejected, in whatever round", () => {
    const run = simulate(looped).turn().resolve("gate", refine).turn().resolve("gate", { action: "reject" }).go();
    expect(run.run).toMatchObject({ status: "failed", error: { code: "approval_rejected" } });
    expect(countOf(run, "node.started:publish")).toBe(0);
  });
});

describe("two gates in one loop", () => {
  const typeId = "core.openwop.governance.approvalGate";
  const config = { requiredRole: "reviewer" };
  const parallel = workflow({
    nodes: { draft: "core.noop", legal: { typeId, config }, brand: { typeId, config }, publish: "core.noop" },
    edges: [
      "draft>legal",
      "draft>brand",
      "legal>publish",
      "brand>publish",
      { from: "legal", to: "draft", condition: rejected },
      { from: "brand", to: "draft", condition: rejected },
    ],
  });

  test("are both decided before it goes round, and nothing that one of them guards starts meanwhile", () => {
    const run = simulate(parallel).turn().resolve("legal", REJECT).go();
    expect(run.run.status).toBe("waiting-approval");
    expect(countOf(run, "node.started:draft")).toBe(1);
    run.resolve("brand", GRANT).turn();
    expect(countOf(run, "node.started:publish")).toBe(0);
    expect(countOf(run, "node.started:draft")).toBe(2);
  });

  test("start nothing that would only be done again, while a third branch still works", () => {
    const three = workflow({
      nodes: {
        draft: "core.noop",
        legal: { typeId, config },
        brand: { typeId, config },
        press: "core.noop",
        slow: { typeId: "core.delay", config: { ms: 1000 } },
      },
      edges: [
        "draft>legal",
        "draft>brand",
        "draft>slow",
        "brand>press",
        { from: "legal", to: "draft", condition: rejected },
      ],
    });
    const run = simulate(three).turn().resolve("legal", REJECT).resolve("brand", GRANT).turn();
    expect(countOf(run, "node.started:press")).toBe(0);
    run.advance(1000).turn();
    expect(countOf(run, "node.started:draft")).toBe(2);
    expect(countOf(run, "node.started:press")).toBe(0);
  });

  test("are both asked anew: a pass of the round before opens nothing", () => {
    const run = simulate(parallel).turn().resolve("legal", REJECT).resolve("brand", GRANT).turn();
    expect(keysOf(run).slice(2)).toEqual([
      ["legal:1", "open", undefined],
      ["brand:1", "open", undefined],
    ]);
    run.resolve("legal", GRANT).go();
    expect(countOf(run, "node.started:publish")).toBe(0);
    expect(codeOf(() => run.resolve("legal", GRANT, BEN))).toBe("interrupt_already_resolved");
    expect(run.resolve("brand", GRANT).go().run.status).toBe("completed");
  });
});
