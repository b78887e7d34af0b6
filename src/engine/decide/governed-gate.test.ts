import { describe, expect, test } from "vitest";
import type { Interrupt } from "../../protocol/interrupt.ts";
import { ANA, actionsOf, BEN, BOT, codeOf, RELAY, refusalOf, STARTER, somebody, TOKEN } from "../../testing/judges.ts";
import { type Simulation, simulate } from "../../testing/simulate.ts";
import { workflow } from "../../testing/workflow.ts";

const GRANT = { decision: "granted" };
const REJECT = { decision: "rejected" };
const typeId = "core.openwop.governance.approvalGate";

/** A governed gate that waits. `next` follows it; after a rejection, `repair` does. */
const waiting = (config: Readonly<Record<string, unknown>> = { requiredRole: "reviewer" }) =>
  simulate(
    workflow({
      nodes: { gate: { typeId, config }, next: "core.noop", repair: "core.noop" },
      edges: [
        "gate>next",
        { from: "gate", to: "repair", condition: { type: "equals", left: "output.decision", right: "rejected" } },
      ],
    }),
  ).turn();
const interruptOf = ({ run }: Simulation) => Object.values(run.interrupts).at(-1) as Interrupt;
const payloadsOf = ({ events }: Simulation, type: string) =>
  events.flatMap((event) => (event.type === type ? [event.payload] : []));
const stillWaits = (run: Simulation) => {
  expect(interruptOf(run).status).toBe("open");
  expect(run.go().run.status).toBe("waiting-approval");
  expect(run.run.nodes["next"]).toBeUndefined();
};
const refused = (run: Simulation, by: typeof ANA, value: object = GRANT, code = "forbidden") => {
  expect(codeOf(() => run.resolve("gate", value, by))).toBe(code);
  stillWaits(run);
};

describe("a governed gate", () => {
  test("shows what it asks for with its request", () => {
    const config = { requiredRole: "reviewer", requiredScope: "approvals:respond", quorum: 2, timeoutSec: 60 };
    const [requested] = payloadsOf(waiting(config), "interrupt.requested");
    expect(requested).toMatchObject({ data: { gateId: "gate", actions: ["accept", "reject"], ...config } });
  });

  test("opens for whoever holds the role", () => {
    const run = waiting().resolve("gate", { ...GRANT, reason: "Good." }, ANA);
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
    expect(waiting().resolve("gate", { action: "accept" }).go().run.nodes["next"]?.status).toBe("completed");
    expect(waiting().resolve("gate", { action: "reject" }).go().run.nodes["repair"]?.status).toBe("completed");
  });

  test("refuses whoever lacks the role, writes that down and waits on", () => {
    const run = waiting({ requiredRole: "admin" });
    refused(run, ANA);
    refused(run, ANA, REJECT);
    expect(payloadsOf(run, "authorization.decided")).toMatchObject([
      { principal: "ana", action: "approvals:respond", allowed: false },
    ]);
    expect(actionsOf(run.audit)).toEqual(["authorization.denied"]);
    expect(run.resolve("gate", GRANT, somebody("ana", { roles: ["admin"] })).go().run.status).toBe("completed");
  });

  test("opens for nobody when its role is one that nobody knows", () => {
    const run = waiting({ requiredRole: "release-manger" });
    refused(run, STARTER);
    refused(run, somebody("r", { roles: ["release-manager"] }));
  });

  test("asks for the scope in the key and in the roles", () => {
    const run = waiting({ requiredScope: "deploy:promote" });
    refused(run, ANA);
    refused(run, somebody("o", { roles: ["owner"], keyScopes: ["approvals:respond"] }));
    refused(run, somebody("s", { roles: [] }));
    expect(run.resolve("gate", GRANT, somebody("o", { roles: ["owner"] })).go().run.status).toBe("completed");
  });

  test("asks for both where it names both", () => {
    const config = { requiredRole: "reviewer", requiredScope: "deploy:promote" };
    const run = waiting(config);
    refused(run, ANA);
    refused(run, somebody("d", { roles: ["deployer"], table: { deployer: ["deploy:promote"] } }));
    expect(run.resolve("gate", GRANT, somebody("o", { roles: ["owner"] })).go().run.status).toBe("completed");
  });

  test("knows the voter by the key alone", () => {
    const run = waiting({ requiredRole: "reviewer", quorum: 2 });
    refused(run, RELAY, { ...GRANT, voter: "ana" });
    expect(interruptOf(run).votes).toEqual([]);
    expect(run.resolve("gate", { ...GRANT, voter: "ana" }, ANA).run.status).toBe("waiting-approval");
  });

  test("takes no token", () => {
    const run = waiting();
    const before = run.events.length;
    refused(run, TOKEN, GRANT, "auth_elevation_required");
    refused(run, TOKEN, REJECT, "auth_elevation_required");
    expect(run.events).toHaveLength(before);
  });
});

describe("a governed quorum", () => {
  const two = { requiredRole: "reviewer", quorum: 2 };

  test("is reached by distinct principals only, and shows its progress", () => {
    const run = waiting(two).resolve("gate", GRANT, ANA).resolve("gate", GRANT, ANA);
    run.resolve("gate", GRANT, somebody("ana", { roles: ["owner"] }));
    stillWaits(run);
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
    const run = waiting(two).resolve("gate", GRANT, ANA);
    for (const roles of [["viewer"], [], ["unheard-of"]]) refused(run, somebody(`v${roles}`, { roles }));
    expect(interruptOf(run).votes).toHaveLength(1);
  });

  test("is ended by one reject, however many have granted", () => {
    const run = waiting({ ...two, quorum: 3, rejectionPolicy: "majority" });
    run.resolve("gate", GRANT, ANA).resolve("gate", GRANT, BEN);
    run.resolve("gate", { ...REJECT, reason: "Not yet." }, somebody("chi"));
    expect(payloadsOf(run, "approval.rejected")).toEqual([{ gateId: "gate", principal: "chi", reason: "Not yet." }]);
    expect(run.go().run.nodes["repair"]?.status).toBe("completed");
    expect(run.run.nodes["next"]?.status).toBe("skipped");
  });

  test("holds a vote to what it was: a change of mind is refused, and audited with the earlier vote", () => {
    const run = waiting(two).resolve("gate", GRANT, ANA);
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
    const run = waiting({ ...two, minHumans: 1 }).resolve("gate", GRANT, BOT);
    run.resolve("gate", GRANT, somebody("bot-2", { kind: "agent" }));
    run.resolve("gate", GRANT, somebody("bot-3", { kind: "agent" }));
    stillWaits(run);
    expect(run.resolve("gate", GRANT, ANA).go().run.status).toBe("completed");
  });

  test("does not count whoever started the run where that is forbidden, but hears their reject", () => {
    const config = { ...two, forbidSelfApproval: true };
    const run = waiting(config).resolve("gate", GRANT, ANA);
    refused(run, STARTER);
    refused(run, somebody(STARTER.principal, { kind: "agent", roles: ["owner"] }));
    expect(run.resolve("gate", REJECT, STARTER).go().run.nodes["repair"]?.status).toBe("completed");
  });
});

describe("an answer that a governed gate cannot take", () => {
  test.each([
    ["nothing", null],
    ["a text", "granted"],
    ["a list", [GRANT]],
    ["an empty object", {}],
    ["a decision nobody knows", { decision: "maybe" }],
    ["the word of the plain gate's older form", { decision: "approved" }],
    ["a decision in capitals", { decision: "GRANTED" }],
    ["a decision that is no text", { decision: true }],
    ["an action that only plain gates have", { action: "edit-accept", editedArtifactData: {} }],
    ["an action nobody knows", { action: "constructor" }],
    ["a reason that is no text", { ...GRANT, reason: { why: "not" } }],
    ["an override that is no yes or no", { ...GRANT, override: "yes", reason: "Because." }],
    ["a voter without a name", { ...GRANT, voter: "" }],
  ])("is refused and the run still waits: %s", (_, value) => {
    const run = waiting();
    const before = run.events.length;
    expect(codeOf(() => run.resolve("gate", value))).toBe("INVALID_RESUME_VALUE");
    expect(run.events).toHaveLength(before);
    expect(run.audit).toEqual([]);
    stillWaits(run);
  });

  test("is not even looked at from somebody who may not decide", () => {
    refused(waiting({ requiredRole: "admin" }), ANA, { decision: "maybe" });
  });

  test("is refused by the author's own schema", () => {
    const resumeSchema = { required: ["ticket"], properties: { ticket: { pattern: "^T-" }, decision: {} } };
    const run = waiting({ requiredRole: "reviewer", resumeSchema });
    refused(run, ANA, GRANT, "INVALID_RESUME_VALUE");
    refused(run, ANA, { ...GRANT, ticket: "7" }, "INVALID_RESUME_VALUE");
    run.resolve("gate", { ...GRANT, ticket: "T-7" }).go();
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({ approved: true, ticket: "T-7" });
  });

  test("cannot claim to be what it is not: what the node hands on says what was decided", () => {
    const lie = { ...REJECT, approved: true, outcome: "granted", action: undefined, decidedBy: "the board" };
    const run = waiting()
      .resolve("gate", JSON.parse(JSON.stringify(lie)))
      .go();
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({
      decision: "rejected",
      outcome: "rejected",
      action: "reject",
      approved: false,
      decidedBy: "ana",
    });
    expect(run.run.nodes["next"]?.status).toBe("skipped");
  });
});

describe("a gate that asks for the evidence of an evaluation", () => {
  const requiredEval = { evalRunId: "run-eval", requiredPassScore: 0.9 };
  const config = { requiredRole: "reviewer", requiredEval, override: { requiredRole: "owner" } };

  test("stays closed while there is none, for an override as well", () => {
    const run = waiting(config);
    const before = run.events.length;
    expect(refusalOf(() => run.resolve("gate", GRANT))).toMatchObject({
      code: "eval_gate_unmet",
      details: { requiredEval },
    });
    const override = { ...GRANT, override: true, reason: "I know it works." };
    refused(run, somebody("boss", { roles: ["owner"] }), override, "eval_gate_unmet");
    expect(run.events).toHaveLength(before);
    expect(interruptOf(run).votes).toEqual([]);
  });

  test("can be rejected without any", () => {
    expect(waiting(config).resolve("gate", REJECT).go().run.nodes["repair"]?.status).toBe("completed");
  });
});
