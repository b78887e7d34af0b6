import { describe, expect, test } from "vitest";
import { ANA, actionsOf, BEN, codeOf, STARTER, somebody } from "../../../testing/judges.ts";
import { simulate } from "../../../testing/simulate.ts";
import { expectStillWaits, interruptOf, payloadsOf } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";

const GRANT = { decision: "granted" };
const OVERRIDE = { decision: "granted", override: true, reason: "The site is down." };
const BOSS = somebody("boss", { roles: ["admin"] });

const waiting = (more: Readonly<Record<string, unknown>> = {}) => {
  const config = { requiredRole: "reviewer", quorum: 3, override: { requiredRole: "admin" }, ...more };
  const typeId = "core.openwop.governance.approvalGate";
  return simulate(workflow({ nodes: { gate: { typeId, config }, next: "core.noop" }, edges: ["gate>next"] })).turn();
};

describe("an override", () => {
  test("is recorded with its reason, as an event of its own and in the audit", () => {
    const run = waiting().resolve("gate", OVERRIDE, BOSS);
    expect(payloadsOf(run, "approval.overridden")).toEqual([
      { gateId: "gate", principal: "boss", reason: "The site is down." },
    ]);
    expect(run.audit).toMatchObject([
      { action: "approval.overridden", details: { gateId: "gate", reason: "The site is down." } },
    ]);
    expect(interruptOf(run).votes).toMatchObject([{ voter: "boss", override: true, reason: "The site is down." }]);
  });

  test("counts as one vote of the quorum, no more, and is granted with the progress", () => {
    const run = waiting().resolve("gate", OVERRIDE, BOSS);
    expectStillWaits(run);
    const types = run.events.map(({ type }) => type).filter((type) => type.startsWith("approval."));
    expect(types).toEqual(["approval.overridden", "approval.granted"]);
    const quorumProgress = { granted: 1, required: 3 };
    expect(payloadsOf(run, "approval.granted")).toEqual([{ gateId: "gate", principal: "boss", quorumProgress }]);
    run.resolve("gate", GRANT, ANA);
    expectStillWaits(run);
    expect(run.resolve("gate", GRANT, BEN).go().run.status).toBe("completed");
  });

  test("opens alone where the gate says that it bypasses the quorum", () => {
    const run = waiting({ overrideBypassesQuorum: true }).resolve("gate", OVERRIDE, BOSS);
    expect(actionsOf(run.audit)).toEqual(["approval.overridden", "interrupt.resolved"]);
    expect(payloadsOf(run, "approval.granted")).toEqual([]);
    expect(run.go().run.status).toBe("completed");
  });

  test.each([
    ["without a reason", { ...GRANT, override: true }],
    ["with an empty reason", { ...OVERRIDE, reason: "" }],
    ["with blanks for a reason", { ...OVERRIDE, reason: " \n\t" }],
    ["of a rejection", { ...OVERRIDE, decision: "rejected" }],
  ])("is refused %s, and the run still waits", (_, value) => {
    const run = waiting({ overrideBypassesQuorum: true });
    const before = run.events.length;
    expect(codeOf(() => run.resolve("gate", value, BOSS))).toBe("INVALID_RESUME_VALUE");
    expect(run.events).toHaveLength(before);
    expectStillWaits(run);
  });

  test("is refused from whoever lacks its role, also where they could grant", () => {
    const run = waiting({ overrideBypassesQuorum: true });
    expect(codeOf(() => run.resolve("gate", OVERRIDE, ANA))).toBe("forbidden");
    expect(payloadsOf(run, "authorization.decided")).toMatchObject([{ principal: "ana", allowed: false }]);
    expect(payloadsOf(run, "approval.overridden")).toEqual([]);
    expectStillWaits(run);
  });

  test("is refused where the gate has none", () => {
    const run = waiting({ override: undefined });
    expect(codeOf(() => run.resolve("gate", OVERRIDE, somebody("o", { roles: ["owner"] })))).toBe("forbidden");
    expectStillWaits(run);
  });

  test("needs only its own role, not that of the gate", () => {
    const run = waiting({ requiredRole: "release-manager", quorum: 1 });
    expect(codeOf(() => run.resolve("gate", GRANT, BOSS))).toBe("forbidden");
    expect(run.resolve("gate", OVERRIDE, BOSS).go().run.status).toBe("completed");
  });

  test("can follow a grant of the same principal, and they stay one voter", () => {
    const run = waiting().resolve("gate", GRANT, BOSS).resolve("gate", OVERRIDE, BOSS);
    expect(interruptOf(run).votes).toMatchObject([{ voter: "boss", override: true }]);
    expect(payloadsOf(run, "approval.granted")).toHaveLength(1);
    run.resolve("gate", GRANT, ANA);
    expectStillWaits(run);
    expect(run.resolve("gate", GRANT, BEN).go().run.status).toBe("completed");
  });

  test("sent again changes nothing", () => {
    const run = waiting().resolve("gate", OVERRIDE, BOSS);
    const before = run.events.length;
    expect(run.resolve("gate", OVERRIDE, BOSS).resolve("gate", GRANT, BOSS).events).toHaveLength(before);
    expectStillWaits(run);
  });

  test("is no way round the ban on approving one's own run", () => {
    const run = waiting({ overrideBypassesQuorum: true, forbidSelfApproval: true });
    expect(codeOf(() => run.resolve("gate", OVERRIDE, STARTER))).toBe("forbidden");
    expect(payloadsOf(run, "approval.overridden")).toEqual([]);
    expectStillWaits(run);
  });

  test("is no way for an agent round the people that the gate asks for", () => {
    const run = waiting({ overrideBypassesQuorum: true, minHumans: 1 });
    run.resolve("gate", OVERRIDE, somebody("bot", { kind: "agent", roles: ["admin"] }));
    expectStillWaits(run);
    expect(payloadsOf(run, "approval.granted")).toMatchObject([{ quorumProgress: { granted: 1, required: 3 } }]);
    expect(run.resolve("gate", OVERRIDE, BOSS).go().run.status).toBe("completed");
  });

  test("does not stand in for a second person that the gate asks for", () => {
    const run = waiting({ overrideBypassesQuorum: true, minHumans: 2 });
    run.resolve("gate", OVERRIDE, BOSS);
    expectStillWaits(run);
    const other = somebody("chief", { roles: ["admin"] });
    expect(run.resolve("gate", OVERRIDE, other).go().run.status).toBe("completed");
  });

  test("is taken out of the answer before the author's schema sees it", () => {
    const resumeSchema = { properties: { decision: {}, reason: {} }, additionalProperties: false };
    const run = waiting({ overrideBypassesQuorum: true, resumeSchema });
    run.resolve("gate", { ...OVERRIDE, voter: "boss" }, BOSS).go();
    expect(run.run.status).toBe("completed");
    expect(payloadsOf(run, "interrupt.resolved")).toMatchObject([
      { resumeValue: { decision: "granted", reason: "The site is down." } },
    ]);
    expect(run.run.nodes["gate"]?.outputs).not.toHaveProperty("override");
  });
});
