import { describe, expect, test } from "vitest";
import { ANA, BEN, CHI } from "../../../testing/judges.ts";
import { simulate } from "../../../testing/simulate.ts";
import { expectStillWaits, interruptOf, payloadsOf } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";

const actions = ["accept", "reject", "edit-accept"];
const waiting = (more: Readonly<Record<string, unknown>>) => {
  const config = { actions, artifactData: { title: "A draft" }, ...more };
  const nodes = { gate: { typeId: "core.approvalGate", config }, next: "core.noop" };
  return simulate(workflow({ nodes, edges: ["gate>next"] })).turn();
};

describe("an edit at a gate that wants several", () => {
  const edit = (data: unknown) => ({ action: "edit-accept", editedArtifactData: data });

  test("takes back what was accepted before: that was another artifact", () => {
    const run = waiting({ requiredApprovals: 2 }).resolve("gate", { action: "accept" }, ANA);
    run.resolve("gate", edit({ title: "Edited" }), BEN);
    expect(interruptOf(run).votes.map(({ voter, action }) => [voter, action])).toEqual([["ben", "edit-accept"]]);
    expectStillWaits(run);
  });

  test("is what the others then accept, and what goes on", () => {
    const run = waiting({ requiredApprovals: 2 }).resolve("gate", edit({ title: "Edited" }), BEN);
    run.resolve("gate", { action: "accept" }, ANA).go();
    expect(run.run.status).toBe("completed");
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({ action: "edit-accept", artifact: { title: "Edited" } });
    expect(payloadsOf(run, "approval.received").at(-1)).toMatchObject({
      action: "edit-accept",
      editedArtifactData: { title: "Edited" },
      decidedBy: "quorum:2-of-2",
    });
  });

  test("counts again after another edit, and the last one stands", () => {
    const run = waiting({ requiredApprovals: 2 })
      .resolve("gate", edit("one"), ANA)
      .resolve("gate", edit("two"), BEN)
      .resolve("gate", edit("three"), ANA);
    expect(interruptOf(run).votes.map(({ voter }) => voter)).toEqual(["ana"]);
    expectStillWaits(run);
    run.resolve("gate", { action: "accept" }, CHI).go();
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({ artifact: "three" });
  });

  test("that is sent again as it is, changes nothing; with other data it is another edit", () => {
    const run = waiting({ requiredApprovals: 2 }).resolve("gate", edit({ a: 1, b: 2 }), ANA);
    const before = run.events.length;
    expect(run.resolve("gate", edit({ b: 2, a: 1 }), ANA).events).toHaveLength(before);
    expect(run.resolve("gate", edit({ a: 2 }), ANA).events.length).toBeGreaterThan(before);
    expect(interruptOf(run)).toMatchObject({ edited: { data: { a: 2 } }, votes: [{ voter: "ana" }] });
  });

  test.each([{ action: "reject" }, { action: "refine", refineFeedback: { scope: "whole" } }])(
    "does not take back what counts against it: $action",
    (against) => {
      const offered = [...actions, "refine"];
      const run = waiting({ actions: offered, requiredApprovals: 3, rejectionPolicy: "majority" });
      run.resolve("gate", against, ANA).resolve("gate", edit("new"), BEN);
      expect(interruptOf(run).votes.map(({ voter, action }) => [voter, action])).toEqual([
        ["ana", against.action],
        ["ben", "edit-accept"],
      ]);
      expect(run.resolve("gate", { action: "reject" }, CHI).go().run.error?.code).toBe("approval_rejected");
    },
  );
});
