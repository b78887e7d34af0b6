import { describe, expect, test } from "vitest";
import { ANA, BEN, BOT, codeOf, STARTER, somebody, TOKEN } from "../../../testing/judges.ts";
import type { Simulation } from "../../../testing/simulate.ts";
import { expectRefused, waitingGate } from "../../../testing/simulated-gates.ts";
import { expectStillWaits, interruptOf, votesOf } from "../../../testing/waiting-run.ts";

const ACCEPT = { action: "accept" };
const REJECT = { action: "reject" };
const refused = (run: Simulation, by: typeof ANA, value: object = ACCEPT) => expectRefused(run, by, value);

describe("a gate that asks for people", () => {
  test("never opens by agents alone, however many there are", () => {
    const run = waitingGate({ requiredApprovals: 2, minHumans: 1 });
    for (const name of ["b1", "b2", "b3", "b4"]) run.resolve("gate", ACCEPT, somebody(name, { kind: "agent" }));
    expectStillWaits(run);
    expect(run.resolve("gate", ACCEPT, ANA).go().run.status).toBe("completed");
  });

  test("asks for two people when it says so, whatever else it requires", () => {
    const run = waitingGate({ requiredApprovals: 1, minHumans: 2 }).resolve("gate", ACCEPT, ANA);
    expectStillWaits(run);
    run.resolve("gate", ACCEPT, BOT);
    expectStillWaits(run);
    expect(run.resolve("gate", ACCEPT, BEN).go().run.status).toBe("completed");
  });

  test("is closed by an agent's reject all the same", () => {
    const run = waitingGate({ minHumans: 1 }).resolve("gate", REJECT, BOT).go();
    expect(run.run.error?.code).toBe("approval_rejected");
  });
});

describe("a gate that whoever started the run may not open", () => {
  const config = { forbidSelfApproval: true, actions: ["accept", "reject", "edit-accept", "refine", "ask"] };

  test("refuses their accept and their edit, from any of their keys", () => {
    const run = waitingGate(config);
    refused(run, STARTER);
    refused(run, STARTER, { action: "edit-accept", editedArtifactData: 1 });
    refused(run, somebody(STARTER.principal, { kind: "agent", keyScopes: ["approvals:respond"] }));
    expect(votesOf(run)).toEqual([]);
  });

  test("takes their reject, their refinement and their question", () => {
    const refine = { action: "refine", refineFeedback: { scope: "whole" } };
    expect(waitingGate(config).resolve("gate", REJECT, STARTER).go().run.error?.code).toBe("approval_rejected");
    expect(waitingGate(config).resolve("gate", refine, STARTER).go().run.error?.code).toBe("approval_refined");
    expectStillWaits(waitingGate(config).resolve("gate", { action: "ask", question: "Who?" }, STARTER));
  });

  test("opens for somebody else", () => {
    expect(waitingGate(config).resolve("gate", ACCEPT, ANA).go().run.status).toBe("completed");
  });
});

describe("a token", () => {
  test("decides a gate that names nobody", () => {
    const run = waitingGate().resolve("gate", ACCEPT, TOKEN).go();
    expect(run.run.status).toBe("completed");
    expect(interruptOf(run)).toMatchObject({ resolvedBy: "token", votes: [{ voter: "token", kind: "token" }] });
  });

  test("is nobody in particular, whatever name its holder gives", () => {
    const run = waitingGate();
    refused(run, TOKEN, { ...ACCEPT, voter: "ana" });
    expect(votesOf(run)).toEqual([]);
  });

  test("is no second voice for somebody who has voted with a key", () => {
    const run = waitingGate({ requiredApprovals: 2 }).resolve("gate", ACCEPT, ANA);
    expect(codeOf(() => run.resolve("gate", ACCEPT, TOKEN))).toBe("auth_elevation_required");
    expect(votesOf(run)).toEqual([["ana", "accept"]]);
    expectStillWaits(run);
  });

  test.each([
    [{ approversList: ["token"] }],
    [{ approverGroupRefs: ["finance"] }],
    [{ minHumans: 1 }],
    [{ requiredApprovals: 2 }],
    [{ forbidSelfApproval: true }],
    [{ profile: "openwop-interrupt-auth-required" }],
  ])("decides nothing that depends on who holds it, and leaves no trace: %j", (config) => {
    const run = waitingGate(config);
    const before = run.events.length;
    for (const value of [ACCEPT, REJECT, { action: "nonsense" }]) {
      expect(codeOf(() => run.resolve("gate", value, TOKEN))).toBe("auth_elevation_required");
    }
    expect(run.events).toHaveLength(before);
    expectStillWaits(run);
  });
});
