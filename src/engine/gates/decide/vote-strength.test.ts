import { describe, expect, test } from "vitest";
import { ANA, actionsOf, BEN, codeOf, RELAY, somebody } from "../../../testing/judges.ts";
import { waitingGate, waitingGovernedGate } from "../../../testing/simulated-gates.ts";
import { expectStillWaits, interruptOf, payloadsOf } from "../../../testing/waiting-run.ts";

const ACCEPT = { action: "accept" };
const REJECT = { action: "reject" };
const GRANTED = { decision: "granted" };
const REJECTED = { decision: "rejected" };
const ANA_S_AGENT = somebody("ana", { kind: "agent" });

describe("a principal with an agent's key and a person's key", () => {
  test("votes as a person after its agent did, with one vote, at a plain gate", () => {
    const run = waitingGate({ minHumans: 1 }).resolve("gate", ACCEPT, ANA_S_AGENT);
    expectStillWaits(run);
    run.resolve("gate", ACCEPT, ANA).go();
    expect(interruptOf(run).votes).toMatchObject([{ voter: "ana", kind: "user" }]);
    expect(payloadsOf(run, "assay.vote.recorded").at(-1)).toMatchObject({ replaces: "accept" });
    expect(run.run.status).toBe("completed");
  });

  test("votes as a person after its agent did, with one vote, at a governed gate", () => {
    const run = waitingGovernedGate({ requiredRole: "reviewer", minHumans: 1 }).resolve("gate", GRANTED, ANA_S_AGENT);
    expectStillWaits(run);
    run.resolve("gate", GRANTED, ANA).go();
    expect(interruptOf(run).votes).toMatchObject([{ voter: "ana", kind: "user" }]);
    // A grant is counted once.
    expect(payloadsOf(run, "approval.granted")).toHaveLength(1);
    expect(run.run.status).toBe("completed");
  });

  test("is not two voters", () => {
    const run = waitingGovernedGate({ requiredRole: "reviewer", quorum: 2 }).resolve("gate", GRANTED, ANA_S_AGENT);
    run.resolve("gate", GRANTED, ANA);
    expectStillWaits(run);
    run.resolve("gate", GRANTED, BEN).go();
    expect(run.run.status).toBe("completed");
  });

  test("may reject as a person what its agent granted", () => {
    const run = waitingGovernedGate({ requiredRole: "reviewer", quorum: 2 }).resolve("gate", GRANTED, ANA_S_AGENT);
    run.resolve("gate", REJECTED, ANA);
    expect(interruptOf(run)).toMatchObject({ status: "resolved", outcome: "rejected" });
  });

  test.each([
    ["plain", () => waitingGate({ requiredApprovals: 3, rejectionPolicy: "majority" }), REJECT, ACCEPT],
    ["governed", () => waitingGovernedGate({ requiredRole: "reviewer", quorum: 2 }), GRANTED, REJECTED],
  ])("keeps what the person decided at a %s gate, whatever the agent sends then", (_, waiting, first, second) => {
    const run = waiting().resolve("gate", first, ANA);
    run.resolve("gate", first, ANA_S_AGENT);
    expect(codeOf(() => run.resolve("gate", second, ANA_S_AGENT))).toBe("vote_conflict");
    expect(interruptOf(run).votes).toMatchObject([{ voter: "ana", kind: "user" }]);
    expect(actionsOf(run.audit)).toContain("interrupt.vote_refused");
    expectStillWaits(run);
  });
});

describe("a voter that a relay named before", () => {
  test("votes with its own key in place of the relay, and the relay cannot take that back", () => {
    const run = waitingGate({ requiredApprovals: 3, rejectionPolicy: "majority" });
    run.resolve("gate", { ...ACCEPT, voter: "ana" }, RELAY).resolve("gate", REJECT, ANA);
    expect(interruptOf(run).votes).toMatchObject([{ voter: "ana", principal: "ana", action: "reject" }]);
    expect(codeOf(() => run.resolve("gate", { ...ACCEPT, voter: "ana" }, RELAY))).toBe("vote_conflict");
    expectStillWaits(run);
  });
});

test("a vote with a key that another principal made gives way to one with the voter's own key", () => {
  const run = waitingGate({ requiredApprovals: 2 });
  run.resolve("gate", ACCEPT, BEN).resolve("gate", ACCEPT, somebody("ana", { makers: ["ben"] }));
  expectStillWaits(run);
  run.resolve("gate", ACCEPT, ANA).go();
  expect(run.run.status).toBe("completed");
});
