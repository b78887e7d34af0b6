import { describe, expect, test } from "vitest";
import { BOT, somebody } from "../../testing/judges.ts";
import {
  gateRules,
  isSelfApproval,
  mayDecide,
  mayOverride,
  namesVoters,
  tallyOf,
  tokenAllowed,
  type Voter,
  verdictOf,
} from "./gate-rules.ts";
import { type ApprovalAction, AUTH_REQUIRED, type Vote } from "./interrupt.ts";

const vote = (principal: string, action: ApprovalAction, kind: Vote["kind"] = "user"): Vote => ({
  voter: principal,
  principal,
  kind,
  action,
  at: "2027-01-01T00:00:00.000Z",
});
const plain = (data: Readonly<Record<string, unknown>> = {}) => gateRules({ actions: ["accept", "reject"], ...data });
const governed = (data: Readonly<Record<string, unknown>> = {}) => plain({ gateId: "gate", ...data });
const verdict = (rules: ReturnType<typeof gateRules>, ...votes: Vote[]) => verdictOf(tallyOf({ votes }, rules), rules);
const reviewer = somebody("rita", { roles: ["reviewer"] });

describe("the rules of a gate", () => {
  test("ask for one approval when the data says nothing", () => {
    expect(plain()).toMatchObject({ required: 1, rejectionPolicy: "single-veto", minHumans: 0 });
  });

  test.each([0, -1, 1.5, "3", null])("ask for at least one approval, whatever the data says: %j", (count) => {
    expect(plain({ requiredApprovals: count }).required).toBe(1);
    expect(governed({ quorum: count }).required).toBe(1);
  });

  test("ask for as many approvals as people", () => {
    expect(plain({ requiredApprovals: 2, minHumans: 3 }).required).toBe(3);
    expect(governed({ quorum: 2, minHumans: 3 }).required).toBe(3);
  });

  test("take the count of a governed gate from its quorum and of a plain one from requiredApprovals", () => {
    const both = { quorum: 2, requiredApprovals: 5 };
    expect(governed(both).required).toBe(2);
    expect(plain(both).required).toBe(5);
  });

  test("offer only actions that exist", () => {
    expect(plain({ actions: ["accept", "explode", 7] }).actions).toEqual(["accept"]);
  });
});

describe("a gate", () => {
  test.each([
    [{ approversList: ["ana"] }],
    [{ approverGroupRefs: ["finance"] }],
    [{ approverRoleRefs: ["admin"] }],
    [{ forbidSelfApproval: true }],
    [{ minHumans: 1 }],
    [{ gateId: "gate", requiredRole: "admin" }],
  ])("that says who decides takes no token: %j", (data) => {
    expect(namesVoters(plain(data))).toBe(true);
    expect(tokenAllowed({ kind: "approval", data })).toBe(false);
  });

  test("that names nobody takes a token", () => {
    const data = { approversList: [], forbidSelfApproval: false, minHumans: 0 };
    expect(namesVoters(plain(data))).toBe(false);
    expect(tokenAllowed({ kind: "approval", data })).toBe(true);
  });

  test("that asks for several takes none, for its holder may be one who has voted", () => {
    expect(tokenAllowed({ kind: "approval", data: { requiredApprovals: 1 } })).toBe(true);
    expect(tokenAllowed({ kind: "approval", data: { requiredApprovals: 2 } })).toBe(false);
  });

  test("of the profile for authenticated answers takes no token, wherever the profile stands and whatever its kind", () => {
    for (const kind of ["approval", "clarification", "external-event", "custom", "low-confidence"] as const) {
      expect(tokenAllowed({ kind, data: {}, profile: AUTH_REQUIRED })).toBe(false);
      expect(tokenAllowed({ kind, data: { profile: AUTH_REQUIRED } })).toBe(false);
      expect(tokenAllowed({ kind, data: {} })).toBe(true);
    }
  });
});

describe("who may decide a plain gate", () => {
  const eligible = (data: Readonly<Record<string, unknown>>, answerer: Voter) => mayDecide(plain(data), answerer);

  test("is anybody where nobody is named", () => {
    expect(eligible({}, somebody("stranger", { roles: [] }))).toEqual({ eligible: true, by: [] });
  });

  test("is whoever is on the list, in a group or in a role, and each that holds is recorded", () => {
    const data = { approversList: ["ana"], approverGroupRefs: ["finance"], approverRoleRefs: ["reviewer"] };
    const ana = somebody("ana", { groups: ["finance", "legal"], roles: ["admin"] });
    expect(eligible(data, ana)).toEqual({ eligible: true, by: ["approversList", "group:finance", "role:reviewer"] });
    expect(eligible(data, somebody("ben", { roles: [], groups: ["finance"] }))).toMatchObject({ eligible: true });
    expect(eligible(data, somebody("ben", { roles: ["viewer"], groups: ["legal"] }))).toMatchObject({
      eligible: false,
    });
  });

  test("is not whoever is called like a group or a role", () => {
    const data = { approverGroupRefs: ["finance"], approverRoleRefs: ["admin"] };
    expect(eligible(data, somebody("finance", { groups: ["admin"] }))).toMatchObject({ eligible: false });
    expect(eligible({ approversList: ["ana"] }, somebody("ben", { groups: ["ana"], roles: ["ana"] }))).toMatchObject({
      eligible: false,
    });
  });
});

describe("who may decide a governed gate", () => {
  const eligible = (data: Readonly<Record<string, unknown>>, answerer: Voter) =>
    mayDecide(governed(data), answerer).eligible;

  test("holds the role or one that contains it", () => {
    expect(eligible({ requiredRole: "reviewer" }, reviewer)).toBe(true);
    expect(eligible({ requiredRole: "reviewer" }, somebody("o", { roles: ["owner"] }))).toBe(true);
    expect(eligible({ requiredRole: "admin" }, reviewer)).toBe(false);
  });

  test("holds a role of the workspace's own by exactly that name", () => {
    expect(eligible({ requiredRole: "release-manager" }, somebody("r", { roles: ["release-manager"] }))).toBe(true);
    expect(eligible({ requiredRole: "release-manager" }, somebody("o", { roles: ["owner"] }))).toBe(false);
  });

  test("has the scope in the key and in a role", () => {
    const data = { requiredScope: "deploy:promote" };
    expect(eligible(data, somebody("o", { roles: ["owner"] }))).toBe(true);
    expect(eligible(data, somebody("o", { roles: ["owner"], keyScopes: ["approvals:respond"] }))).toBe(false);
    expect(eligible(data, reviewer)).toBe(false);
  });

  test("meets both where both are asked for", () => {
    const data = { requiredRole: "release-manager", requiredScope: "deploy:promote" };
    const table = { "release-manager": ["deploy:promote"], deployer: ["deploy:promote"] };
    expect(eligible(data, somebody("r", { roles: ["release-manager"], table }))).toBe(true);
    expect(eligible(data, somebody("r", { roles: ["deployer"], table }))).toBe(false);
    expect(eligible(data, somebody("r", { roles: ["release-manager"] }))).toBe(false);
  });

  test("is nobody where neither is asked for, and nobody without a role", () => {
    expect(eligible({}, somebody("o", { roles: ["owner"] }))).toBe(false);
    expect(eligible({ requiredRole: "viewer" }, somebody("n", { roles: [] }))).toBe(false);
    expect(eligible({ requiredScope: "runs:read" }, somebody("n", { roles: ["no-such-role"] }))).toBe(false);
  });

  test("is not helped by the lists of a plain gate", () => {
    const data = { requiredRole: "admin", approversList: ["rita"], approverRoleRefs: ["reviewer"] };
    expect(eligible(data, reviewer)).toBe(false);
  });
});

describe("who may override", () => {
  const may = (data: Readonly<Record<string, unknown>>, answerer: Voter) => {
    const rules = governed({ requiredRole: "reviewer", ...data });
    return rules.governed !== undefined && mayOverride(rules.governed, answerer).eligible;
  };

  test("holds the role of the override", () => {
    expect(may({ override: { requiredRole: "admin" } }, somebody("a", { roles: ["admin"] }))).toBe(true);
    expect(may({ override: { requiredRole: "admin" } }, reviewer)).toBe(false);
  });

  test("is nobody where the gate has no override", () => {
    const owner = somebody("o", { roles: ["owner"] });
    expect(may({}, owner)).toBe(false);
    expect(may({ override: {} }, owner)).toBe(false);
    expect(may({ overrideBypassesQuorum: true }, owner)).toBe(false);
  });
});

describe("whoever started the run", () => {
  const rules = plain({ forbidSelfApproval: true });

  test("approves it themselves only where that is not forbidden", () => {
    expect(isSelfApproval(rules, reviewer, ["olga", "rita"])).toBe(true);
    expect(isSelfApproval(rules, reviewer, ["olga", "otto"])).toBe(false);
    expect(isSelfApproval(plain(), reviewer, ["rita"])).toBe(false);
  });

  test("may be anybody when it is not known, so then nobody approves", () => {
    expect(isSelfApproval(rules, reviewer, [])).toBe(true);
  });
});

describe("a verdict", () => {
  const two = plain({ requiredApprovals: 2 });

  test("is open until the accepts reach what is required", () => {
    expect(verdict(two)).toBeUndefined();
    expect(verdict(two, vote("a", "accept"))).toBeUndefined();
    expect(verdict(two, vote("a", "accept"), vote("b", "edit-accept"))).toBe("granted");
  });

  test.each(["reject", "refine"] as const)(
    "is against with one %s under single-veto, however many accept",
    (action) => {
      expect(verdict(two, vote("a", "accept"), vote("b", action))).toBe("rejected");
    },
  );

  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
  ])("of %i by majority is against with %i rejects and not with one fewer", (required, against) => {
    const rules = plain({ requiredApprovals: required, rejectionPolicy: "majority" });
    const rejects = Array.from({ length: against }, (_, n) => vote(`r${n}`, "reject"));
    expect(verdict(rules, ...rejects)).toBe("rejected");
    expect(verdict(rules, ...rejects.slice(1))).toBeUndefined();
  });

  test("of a governed gate is against with one reject, whatever policy the data names", () => {
    const rules = governed({ quorum: 5, rejectionPolicy: "majority" });
    expect(verdict(rules, vote("a", "reject"))).toBe("rejected");
  });

  test("waits for people where people are asked for", () => {
    const rules = plain({ requiredApprovals: 2, minHumans: 1 });
    expect(verdict(rules, vote("b1", "accept", "agent"), vote("b2", "accept", "agent"))).toBeUndefined();
    expect(verdict(rules, vote("b1", "accept", "agent"), vote("a", "accept"))).toBe("granted");
  });

  test("does not take a token or an agent for a person, nor a person's reject for an accept", () => {
    const rules = plain({ minHumans: 1 });
    expect(verdict(rules, vote("t", "accept", "token"))).toBeUndefined();
    expect(verdict(rules, vote(BOT.principal, "accept", "agent"))).toBeUndefined();
    const patient = plain({ requiredApprovals: 2, minHumans: 1, rejectionPolicy: "majority" });
    const votes = [vote("b1", "accept", "agent"), vote("b2", "accept", "agent"), vote("a", "reject")];
    expect(verdict(patient, ...votes)).toBeUndefined();
  });

  test("counts one person once, in however many names they relay", () => {
    const twice = [vote("a", "accept"), { ...vote("a", "accept"), voter: "another" }];
    expect(tallyOf({ votes: twice }, plain())).toMatchObject({ granted: 2, humans: 1 });
  });
});
