import { describe, expect, test } from "vitest";
import { ANA, actionsOf, BEN, BOT, CHI, codeOf, RELAY, somebody } from "../../../testing/judges.ts";
import type { Simulation } from "../../../testing/simulate.ts";
import { expectRefused, waitingGate } from "../../../testing/simulated-gates.ts";
import { expectStillWaits, interruptOf, votesOf } from "../../../testing/waiting-run.ts";

const ACCEPT = { action: "accept" };
const REJECT = { action: "reject" };
const refused = (run: Simulation, by: typeof ANA, value: object = ACCEPT) => expectRefused(run, by, value);

describe("a gate that wants three", () => {
  test("opens with the third and not before", () => {
    const run = waitingGate({ requiredApprovals: 3 });
    for (const voter of [ANA, BEN]) {
      run.resolve("gate", ACCEPT, voter);
      expectStillWaits(run);
    }
    run.resolve("gate", ACCEPT, CHI).go();
    expect(run.run.status).toBe("completed");
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({ approved: true, decidedBy: "quorum:3-of-3" });
  });

  test("records every vote: who, when, what and why", () => {
    const run = waitingGate({ requiredApprovals: 3 }).resolve("gate", { ...ACCEPT, feedback: "Fine." }, ANA);
    const at = run.events.at(-1)?.timestamp;
    expect(interruptOf(run).votes).toEqual([
      { voter: "ana", principal: "ana", kind: "user", action: "accept", reason: "Fine.", at },
    ]);
    expect(run.story.at(-1)).toBe("assay.vote.recorded:gate");
  });

  test("is closed by one reject", () => {
    const run = waitingGate({ requiredApprovals: 3 }).resolve("gate", ACCEPT, ANA).resolve("gate", ACCEPT, BEN);
    run.resolve("gate", REJECT, CHI).go();
    expect(run.run).toMatchObject({ status: "failed", error: { code: "approval_rejected" } });
  });

  test("is closed by two of three under majority, and a single reject only counts", () => {
    const run = waitingGate({ requiredApprovals: 3, rejectionPolicy: "majority" }).resolve("gate", REJECT, ANA);
    expectStillWaits(run);
    run.resolve("gate", REJECT, BEN).go();
    expect(run.run).toMatchObject({ status: "failed", error: { code: "approval_rejected" } });
    expect(interruptOf(run).resolvedBy).toBe("quorum:2-of-3");
  });

  test("opens under majority with three accepts beside one reject", () => {
    const run = waitingGate({ requiredApprovals: 3, rejectionPolicy: "majority" }).resolve("gate", REJECT, BOT);
    for (const voter of [ANA, BEN, CHI]) run.resolve("gate", ACCEPT, voter);
    expect(run.go().run.status).toBe("completed");
  });
});

describe("somebody who votes again", () => {
  test("with the same action changes nothing, and both votes are in the audit", () => {
    const run = waitingGate({ requiredApprovals: 2 }).resolve("gate", ACCEPT, ANA);
    const before = run.events.length;
    for (const _ of [1, 2, 3]) run.resolve("gate", ACCEPT, ANA);
    expect(run.events).toHaveLength(before);
    expectStillWaits(run);
    expect(actionsOf(run.audit)).toEqual(["interrupt.voted", ...Array(3).fill("interrupt.vote_repeated")]);
    expect(run.audit.at(-1)?.details).toMatchObject({ voter: "ana", action: "accept", earlierAction: "accept" });
  });

  test("with another of their keys is the same voter", () => {
    const run = waitingGate({ requiredApprovals: 2 }).resolve("gate", ACCEPT, ANA);
    run.resolve("gate", ACCEPT, somebody("ana", { roles: ["owner"], keyScopes: ["approvals:respond"] }));
    expect(votesOf(run)).toEqual([["ana", "accept"]]);
    expectStillWaits(run);
  });

  test("with another action replaces the vote, and the earlier one is in the audit and in the log", () => {
    const run = waitingGate({ requiredApprovals: 3, rejectionPolicy: "majority" });
    run.resolve("gate", ACCEPT, ANA).resolve("gate", ACCEPT, BEN).resolve("gate", REJECT, ANA);
    expect(votesOf(run)).toEqual([
      ["ben", "accept"],
      ["ana", "reject"],
    ]);
    expect(run.audit.at(-1)?.details).toMatchObject({ action: "reject", earlierAction: "accept" });
    expect(run.events.at(-1)?.payload).toMatchObject({ action: "reject", replaces: "accept" });
    run.resolve("gate", ACCEPT, CHI);
    expectStillWaits(run);
  });
});

describe("a voter named in the body", () => {
  const as = (voter: string, value: object = ACCEPT) => ({ ...value, voter });

  test("counts on a gate that names nobody, with the relaying principal beside it", () => {
    const run = waitingGate({ requiredApprovals: 3 });
    for (const voter of ["one", "two"]) run.resolve("gate", as(voter), RELAY);
    expectStillWaits(run);
    expect(interruptOf(run).votes).toMatchObject([
      { voter: "one", principal: "front-desk" },
      { voter: "two", principal: "front-desk" },
    ]);
    expect(run.resolve("gate", as("three"), RELAY).go().run.status).toBe("completed");
  });

  test("is one voter however often it is named, and the same as the principal of that name", () => {
    const run = waitingGate({ requiredApprovals: 2 }).resolve("gate", as("ana"), RELAY);
    run.resolve("gate", as("ana"), RELAY).resolve("gate", ACCEPT, ANA);
    expect(votesOf(run)).toEqual([["ana", "accept"]]);
    expectStillWaits(run);
  });

  test("needs the scope to relay", () => {
    const run = waitingGate({ requiredApprovals: 2 });
    refused(run, ANA, as("one"));
    expect(votesOf(run)).toEqual([]);
  });

  test("may be oneself, everywhere", () => {
    expect(waitingGate().resolve("gate", as("ana"), ANA).go().run.status).toBe("completed");
    expect(
      waitingGate({ approversList: ["ana"] })
        .resolve("gate", as("ana"), ANA)
        .go().run.status,
    ).toBe("completed");
  });

  test.each([
    [{ approversList: ["ana", "front-desk"] }],
    [{ approverRoleRefs: ["owner"] }],
    [{ forbidSelfApproval: true }],
    [{ minHumans: 1 }],
  ])("counts for nothing where it matters who votes, and the run still waits: %j", (config) => {
    const run = waitingGate(config);
    refused(run, RELAY, as("ana"));
    expect(votesOf(run)).toEqual([]);
    expect(run.story.at(-1)).toBe("authorization.decided:gate");
  });
});

describe("a gate that names its approvers", () => {
  test("takes those on its list and nobody else", () => {
    const run = waitingGate({ approversList: ["ana", "ben"], requiredApprovals: 2 });
    refused(run, CHI);
    refused(run, somebody("owner", { roles: ["owner"], mayRelay: true }));
    run.resolve("gate", ACCEPT, ANA).resolve("gate", ACCEPT, BEN);
    expect(run.go().run.status).toBe("completed");
  });

  test("refuses a reject, a question and nonsense of others as well", () => {
    const run = waitingGate({ approversList: ["ana"], actions: ["accept", "reject", "ask"] });
    refused(run, BEN, REJECT);
    refused(run, BEN, { action: "ask", question: "May I?" });
    refused(run, BEN, { action: "nonsense" });
    expect(interruptOf(run).remarks).toEqual([]);
  });

  test("looks at groups and roles when somebody votes, and records what made them eligible", () => {
    const run = waitingGate({ approverGroupRefs: ["finance"], approverRoleRefs: ["admin"], requiredApprovals: 2 });
    refused(run, ANA);
    const promoted = somebody("ana", { roles: ["owner"], groups: ["finance"] });
    run.resolve("gate", ACCEPT, promoted);
    expect(run.events.at(-1)?.payload).toMatchObject({ voter: "ana", eligibleBy: ["group:finance", "role:admin"] });
    refused(run, ANA);
    expect(votesOf(run)).toEqual([["ana", "accept"]]);
    run.resolve("gate", ACCEPT, somebody("ben", { groups: ["finance"] }));
    expect(run.go().run.status).toBe("completed");
  });

  test("writes a refusal down once for each principal, and audits it", () => {
    const run = waitingGate({ approversList: ["ana"] });
    for (const who of [BEN, CHI, BEN, BEN]) refused(run, who);
    const denials = run.events.filter(({ type }) => type === "authorization.decided");
    expect(denials.map(({ payload }) => payload)).toMatchObject([
      { principal: "ben", allowed: false, resource: `interrupt:${interruptOf(run).interruptId}` },
      { principal: "chi", allowed: false },
    ]);
    expect(actionsOf(run.audit)).toEqual(["authorization.denied", "authorization.denied"]);
  });

  test("does not grow without end under refusals", () => {
    const run = waitingGate({ approversList: ["ana"] });
    for (let n = 0; n < 150; n++) codeOf(() => run.resolve("gate", ACCEPT, somebody(`nobody-${n}`)));
    expect(run.events.filter(({ type }) => type === "authorization.decided")).toHaveLength(100);
    expect(run.resolve("gate", ACCEPT, ANA).go().run.status).toBe("completed");
  });
});
