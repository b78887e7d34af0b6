import { describe, expect, test } from "vitest";
import { ANA, actionsOf, BEN, BOT, RELAY, STARTER, somebody, TOKEN } from "../../../testing/judges.ts";
import type { Simulation } from "../../../testing/simulate.ts";
import { expectRefused, waitingGovernedGate } from "../../../testing/simulated-gates.ts";
import { expectStillWaits, interruptOf, payloadsOf } from "../../../testing/waiting-run.ts";

const GRANT = { decision: "granted" };
const REJECT = { decision: "rejected" };
const refused = (run: Simulation, by: typeof ANA, value: object = GRANT, code?: string) =>
  expectRefused(run, by, value, code);

describe("a governed gate", () => {
  test("shows what it asks for with its request", () => {
    const config = { requiredRole: "reviewer", requiredScope: "approvals:respond", quorum: 2, timeoutSec: 60 };
    const [requested] = payloadsOf(waitingGovernedGate(config), "interrupt.requested");
    expect(requested).toMatchObject({ data: { gateId: "gate", actions: ["accept", "reject"], ...config } });
  });

  test("opens for whoever holds the role", () => {
    const run = waitingGovernedGate().resolve("gate", { ...GRANT, reason: "Good." }, ANA);
    expect(run.story.slice(-4)).toEqual([
      "assay.vote.recorded:gate",
      "approval.granted:gate",
      "interrupt.resolved:gate",
      "node.resumed:gate",
    ]);
    expect(payloadsOf(run, "approval.granted")).toEqual([{ gateId: "gate", principal: "ana" }]);
    expect(payloadsOf(run, "interrupt.resolved")).toMatchObject([{ outcome: "granted", resolvedBy: "ana" }]);
    run.go();
    expect(run.run.nodes["next"]?.status).toBe("completed");
    expect(run.run.nodes["repair"]?.status).toBe("skipped");
    expect(run.run.nodes["gate"]?.outputs).toEqual({
      decision: "granted",
      outcome: "granted",
      action: "accept",
      approved: true,
      reason: "Good.",
      decidedBy: "ana",
    });
  });

  test("takes accept and reject for granted and rejected", () => {
    expect(waitingGovernedGate().resolve("gate", { action: "accept" }).go().run.nodes["next"]?.status).toBe(
      "completed",
    );
    expect(waitingGovernedGate().resolve("gate", { action: "reject" }).go().run.nodes["repair"]?.status).toBe(
      "completed",
    );
  });

  test("refuses whoever lacks the role, writes that down and waits on", () => {
    const run = waitingGovernedGate({ requiredRole: "admin" });
    refused(run, ANA);
    refused(run, ANA, REJECT);
    expect(payloadsOf(run, "authorization.decided")).toMatchObject([
      { principal: "ana", action: "approvals:respond", allowed: false },
    ]);
    expect(actionsOf(run.audit)).toEqual(["authorization.denied"]);
    expect(run.resolve("gate", GRANT, somebody("ana", { roles: ["admin"] })).go().run.status).toBe("completed");
  });

  test("opens for nobody when its role is one that nobody knows", () => {
    const run = waitingGovernedGate({ requiredRole: "release-manger" });
    refused(run, STARTER);
    refused(run, somebody("r", { roles: ["release-manager"] }));
  });

  test("asks for the scope in the key and in the roles", () => {
    const run = waitingGovernedGate({ requiredScope: "deploy:promote" });
    refused(run, ANA);
    refused(run, somebody("o", { roles: ["owner"], keyScopes: ["approvals:respond"] }));
    refused(run, somebody("s", { roles: [] }));
    expect(run.resolve("gate", GRANT, somebody("o", { roles: ["owner"] })).go().run.status).toBe("completed");
  });

  test("asks for both where it names both", () => {
    const config = { requiredRole: "reviewer", requiredScope: "deploy:promote" };
    const run = waitingGovernedGate(config);
    refused(run, ANA);
    refused(run, somebody("d", { roles: ["deployer"], table: { deployer: ["deploy:promote"] } }));
    expect(run.resolve("gate", GRANT, somebody("o", { roles: ["owner"] })).go().run.status).toBe("completed");
  });

  test("knows the voter by the key alone", () => {
    const run = waitingGovernedGate({ requiredRole: "reviewer", quorum: 2 });
    refused(run, RELAY, { ...GRANT, voter: "ana" });
    expect(interruptOf(run).votes).toEqual([]);
    expect(run.resolve("gate", { ...GRANT, voter: "ana" }, ANA).run.status).toBe("waiting-approval");
  });

  test("takes no token", () => {
    const run = waitingGovernedGate();
    const before = run.events.length;
    refused(run, TOKEN, GRANT, "auth_elevation_required");
    refused(run, TOKEN, REJECT, "auth_elevation_required");
    expect(run.events).toHaveLength(before);
  });
});

describe("a governed quorum", () => {
  const two = { requiredRole: "reviewer", quorum: 2 };

  test("is reached by distinct principals only, and shows its progress", () => {
    const run = waitingGovernedGate(two).resolve("gate", GRANT, ANA).resolve("gate", GRANT, ANA);
    run.resolve("gate", GRANT, somebody("ana", { roles: ["owner"] }));
    expectStillWaits(run);
    expect(interruptOf(run).votes).toHaveLength(1);
    run.resolve("gate", GRANT, BEN).go();
    expect(run.run.status).toBe("completed");
    expect(payloadsOf(run, "approval.granted")).toEqual([
      { gateId: "gate", principal: "ana", quorumProgress: { granted: 1, required: 2 } },
      { gateId: "gate", principal: "ben", quorumProgress: { granted: 2, required: 2 } },
    ]);
    expect(actionsOf(run.audit)).toEqual([
      "interrupt.voted",
      "interrupt.vote_repeated",
      "interrupt.vote_repeated",
      "interrupt.voted",
      "interrupt.resolved",
    ]);
  });

  test("is not helped by grants of those who may not decide", () => {
    const run = waitingGovernedGate(two).resolve("gate", GRANT, ANA);
    for (const roles of [["viewer"], [], ["unheard-of"]]) refused(run, somebody(`v${roles}`, { roles }));
    expect(interruptOf(run).votes).toHaveLength(1);
  });

  test("is ended by one reject, however many have granted", () => {
    const run = waitingGovernedGate({ ...two, quorum: 3, rejectionPolicy: "majority" });
    run.resolve("gate", GRANT, ANA).resolve("gate", GRANT, BEN);
    run.resolve("gate", { ...REJECT, reason: "Not yet." }, somebody("chi"));
    expect(payloadsOf(run, "approval.rejected")).toEqual([{ gateId: "gate", principal: "chi", reason: "Not yet." }]);
    expect(run.go().run.nodes["repair"]?.status).toBe("completed");
    expect(run.run.nodes["next"]?.status).toBe("skipped");
  });

  test("holds a vote to what it was: a change of mind is refused, and audited with the earlier vote", () => {
    const run = waitingGovernedGate(two).resolve("gate", GRANT, ANA);
    const before = run.events.length;
    refused(run, ANA, REJECT, "vote_conflict");
    expect(run.events).toHaveLength(before);
    expect(run.audit.at(-1)).toMatchObject({
      action: "interrupt.vote_refused",
      details: { voter: "ana", action: "reject", earlierAction: "accept" },
    });
    expect(interruptOf(run).votes).toMatchObject([{ voter: "ana", action: "accept" }]);
  });

  test("never counts agents alone where it asks for people", () => {
    const run = waitingGovernedGate({ ...two, minHumans: 1 }).resolve("gate", GRANT, BOT);
    run.resolve("gate", GRANT, somebody("bot-2", { kind: "agent" }));
    run.resolve("gate", GRANT, somebody("bot-3", { kind: "agent" }));
    expectStillWaits(run);
    expect(run.resolve("gate", GRANT, ANA).go().run.status).toBe("completed");
  });

  test("does not count whoever started the run where that is forbidden, but hears their reject", () => {
    const config = { ...two, forbidSelfApproval: true };
    const run = waitingGovernedGate(config).resolve("gate", GRANT, ANA);
    refused(run, STARTER);
    refused(run, somebody(STARTER.principal, { kind: "agent", roles: ["owner"] }));
    expect(run.resolve("gate", REJECT, STARTER).go().run.nodes["repair"]?.status).toBe("completed");
  });
});
