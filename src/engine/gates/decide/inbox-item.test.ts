import { describe, expect, test } from "vitest";
import { InboxItem } from "../../../protocol/gates/inbox-api.ts";
import type { Interrupt } from "../../../protocol/gates/interrupt.ts";
import { parse } from "../../../protocol/schema.ts";
import { somebody } from "../../../testing/judges.ts";
import { itemFor, shownItem, type Waiting, waitsFor } from "./inbox-item.ts";

const NOW = Date.parse("2027-03-01T12:00:00.000Z");

function waiting(data: object, more: Partial<Interrupt> = {}): Waiting {
  const interrupt: Interrupt = {
    interruptId: "int-1",
    nodeId: "gate",
    key: "gate:0",
    kind: "approval",
    status: "open",
    requestedAt: new Date(NOW - 90_500).toISOString(),
    data: { artifactId: "a", artifactType: "t", title: "Ship it?", actions: ["accept", "reject"], ...data },
    votes: [],
    remarks: [],
    ...more,
  };
  return { runId: "run-1", workflowId: "release", starters: ["sam"], interrupt };
}

const governed = (data: object) => waiting({ gateId: "gate", ...data });
const ana = somebody("ana");
const owner = somebody("olga", { roles: ["owner"] });

describe("a gate waits for", () => {
  test("anybody, when it names nobody", () => {
    expect(waitsFor(waiting({}), ana)).toBe(true);
  });

  test("those on its list, in its groups and with its roles, and for nobody else", () => {
    expect(waitsFor(waiting({ approversList: ["ana"] }), ana)).toBe(true);
    expect(waitsFor(waiting({ approversList: ["ben"] }), ana)).toBe(false);
    expect(waitsFor(waiting({ approverGroupRefs: ["legal"] }), somebody("gus", { groups: ["legal"] }))).toBe(true);
    expect(waitsFor(waiting({ approverGroupRefs: ["legal"] }), ana)).toBe(false);
    expect(waitsFor(waiting({ approverRoleRefs: ["admin"] }), owner)).toBe(true);
    expect(waitsFor(waiting({ approverRoleRefs: ["admin"] }), ana)).toBe(false);
  });

  test("those with its role and its scope, and for those who may override it", () => {
    expect(waitsFor(governed({ requiredRole: "reviewer" }), ana)).toBe(true);
    expect(waitsFor(governed({ requiredRole: "admin" }), ana)).toBe(false);
    expect(waitsFor(governed({ requiredScope: "deploy:promote" }), owner)).toBe(true);
    expect(waitsFor(governed({ requiredScope: "deploy:promote" }), ana)).toBe(false);
    const overridable = governed({ requiredRole: "counsel", override: { requiredRole: "admin" } });
    expect(waitsFor(overridable, owner)).toBe(true);
    expect(waitsFor(overridable, ana)).toBe(false);
  });

  test("nobody, when it is governed by neither a role nor a scope", () => {
    expect(waitsFor(governed({}), owner)).toBe(false);
  });

  test("not for whoever could only reject it, having started the run", () => {
    const sam = somebody("sam", { roles: ["owner"] });
    expect(waitsFor(waiting({ forbidSelfApproval: true }), sam)).toBe(false);
    expect(waitsFor(governed({ requiredRole: "admin", forbidSelfApproval: true }), sam)).toBe(false);
    expect(waitsFor(waiting({}), sam)).toBe(true);
    expect(waitsFor(waiting({ forbidSelfApproval: true }), ana)).toBe(true);
  });
});

test.each(["clarification", "external-event", "custom", "low-confidence"] as const)(
  "%s waits for anybody, whatever its data looks like",
  (kind) => {
    expect(waitsFor(waiting({ approversList: ["ben"] }, { kind }), ana)).toBe(true);
  },
);

describe("an item", () => {
  const votes = [
    { voter: "ana", principal: "ana", kind: "user", action: "accept", at: "t1", reason: "as s3cret says" },
    { voter: "ben", principal: "desk", kind: "user", action: "reject", at: "t2" },
  ] as const;

  test("tells what is asked, how long for, and how it stands", () => {
    const deadlineMs = NOW + 1000;
    const gate = waiting({ requiredApprovals: 3, rejectionPolicy: "majority" }, { votes, deadlineMs });
    const item = parse(InboxItem, itemFor(shownItem(gate, []), "ana", NOW), "item");
    expect(item).toMatchObject({ title: "Ship it?", ageSeconds: 90, deadline: "2027-03-01T12:00:01.000Z" });
    expect(item).toMatchObject({ required: 3, granted: 1, rejected: 1, mine: "accept", governed: false });
    expect(item.votes).toEqual([
      { voter: "ana", action: "accept", at: "t1", reason: "as s3cret says" },
      { voter: "ben", action: "reject", at: "t2" },
    ]);
    expect(item.actions).toEqual(["accept", "reject"]);
    expect(itemFor(shownItem(gate, []), "desk", NOW).mine).toBeNull();
  });

  test("tells what a governed gate asks of those who decide", () => {
    const item = itemFor(
      shownItem(governed({ requiredRole: "admin", requiredScope: "x:y", quorum: 2 }), []),
      "ana",
      NOW,
    );
    expect(parse(InboxItem, item, "item")).toMatchObject({
      governed: true,
      required: 2,
      requiredRole: "admin",
      requiredScope: "x:y",
    });
  });

  test("shows no sensitive value of its run", () => {
    const gate = waiting({ title: "Pay s3cret?", description: "For s3cret." }, { votes });
    const item = itemFor(shownItem(gate, ["s3cret"]), "ana", NOW);
    expect(JSON.stringify(item)).not.toContain("s3cret");
    expect(item).toMatchObject({ title: "Pay [REDACTED]?", description: "For [REDACTED]." });
  });

  test("is never from the future, whatever the clocks say", () => {
    expect(itemFor(shownItem(waiting({}), []), "ana", 0).ageSeconds).toBe(0);
  });

  test("of another kind needs one answer and has no votes", () => {
    const data = { eventType: "order.paid", correlation: { order: 1 } };
    const gate = waiting(data, { kind: "external-event", correlationId: "abc" });
    const item = parse(InboxItem, itemFor(shownItem(gate, []), "ana", NOW), "item");
    expect(item).toMatchObject({
      title: "order.paid",
      required: 1,
      granted: 0,
      votes: [],
      mine: null,
      correlationId: "abc",
    });
    expect(item).not.toHaveProperty("actions");
  });
});
