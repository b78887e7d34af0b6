import { describe, expect, test } from "vitest";
import { actionsOf, BEN, codeOf, refusalOf } from "../../../testing/judges.ts";
import { simulate } from "../../../testing/simulate.ts";
import { expectStillWaits, interruptOf, payloadsOf } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";

const EVERY_ACTION = ["accept", "reject", "refine", "edit-accept", "ask"];
const draft = { title: "A draft", pages: 3 };

/** A gate that waits, with every action unless it says otherwise. What follows it is called `next`. */
const waiting = (config: Readonly<Record<string, unknown>> = {}) =>
  simulate(
    workflow({
      nodes: {
        gate: { typeId: "core.approvalGate", config: { actions: EVERY_ACTION, artifactData: draft, ...config } },
        next: "core.identity",
      },
      edges: ["gate>next"],
    }),
  ).turn();
const refineFeedback = { scope: "section", sectionPath: "/2", itemIds: ["x"], tags: ["tone"], text: "Shorter." };

describe("a plain gate", () => {
  test("opens when it is accepted, and hands on what was decided and by whom", () => {
    const run = waiting().resolve("gate", { action: "accept", feedback: "Good." }).go();
    expect(run.run.status).toBe("completed");
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({
      action: "accept",
      decision: "granted",
      outcome: "granted",
      approved: true,
      feedback: "Good.",
      decidedBy: "ana",
      artifact: draft,
    });
    expect(payloadsOf(run, "approval.received").at(-1)).toMatchObject({
      action: "accept",
      decidedBy: "ana",
      feedback: "Good.",
    });
    expect(payloadsOf(run, "interrupt.resolved").at(-1)).toMatchObject({
      outcome: "granted",
      resolvedBy: "ana",
      resumeValue: { action: "accept", decidedBy: "ana" },
    });
  });

  test("fails its node and the run when it is rejected", () => {
    const run = waiting().resolve("gate", { action: "reject", feedback: "No." }).go();
    expect(run.run).toMatchObject({ status: "failed", error: { code: "approval_rejected" } });
    expect(run.story).not.toContain("node.started:next");
    expect(payloadsOf(run, "interrupt.resolved").at(-1)).toMatchObject({ outcome: "rejected", reason: "No." });
  });

  test("does not open when it is to be refined, and says how", () => {
    const run = waiting().resolve("gate", { action: "refine", refineFeedback }).go();
    expect(run.run).toMatchObject({ status: "failed", error: { code: "approval_refined" } });
    expect(run.story).not.toContain("node.started:next");
    expect(payloadsOf(run, "approval.received").at(-1)).toMatchObject({ action: "refine", refineFeedback });
    expect(payloadsOf(run, "interrupt.resolved").at(-1)).toMatchObject({
      outcome: "refined",
      resumeValue: { action: "refine", refineFeedback },
    });
  });

  test.each([{ title: "Better" }, null, "text", 0, false])(
    "opens with the artifact as somebody edited it: %j",
    (data) => {
      const run = waiting().resolve("gate", { action: "edit-accept", editedArtifactData: data }).go();
      expect(run.run.status).toBe("completed");
      expect(run.run.nodes["gate"]?.outputs).toMatchObject({ action: "edit-accept", approved: true, artifact: data });
      expect(payloadsOf(run, "approval.received").at(-1)).toMatchObject({
        action: "edit-accept",
        editedArtifactData: data,
      });
      expect(payloadsOf(run, "interrupt.resolved").at(-1)).toMatchObject({ resumeValue: { editedArtifactData: data } });
    },
  );

  test("stamps who decided and when itself, whatever the body says", () => {
    const claim = { action: "accept", decidedBy: "the pope", decidedAt: "1999-01-01T00:00:00.000Z" };
    const run = waiting().resolve("gate", claim);
    const { decidedAt, decidedBy } = payloadsOf(run, "approval.received").at(-1) ?? {};
    expect({ decidedAt, decidedBy }).toEqual({ decidedAt: run.events.at(-1)?.timestamp, decidedBy: "ana" });
  });

  test("takes nothing more when it is decided", () => {
    const run = waiting().resolve("gate", { action: "accept" });
    const before = run.events.length;
    for (const action of ["accept", "reject"]) {
      expect(codeOf(() => run.resolve("gate", { action }, BEN))).toBe("interrupt_already_resolved");
    }
    expect(codeOf(() => run.resolve("gate", { action: "accept" }))).toBe("interrupt_already_resolved");
    expect(run.events).toHaveLength(before);
  });

  test("leaves the vote and the decision for the audit", () => {
    const run = waiting().resolve("gate", { action: "accept" });
    expect(actionsOf(run.audit)).toEqual(["interrupt.voted", "interrupt.resolved"]);
  });
});

describe("an answer that a plain gate cannot take", () => {
  test.each([
    ["nothing", null],
    ["a text", "accept"],
    ["a list", [{ action: "accept" }]],
    ["an empty object", {}],
    ["an action nobody knows", { action: "approve" }],
    ["an action in capitals", { action: "Accept" }],
    ["an action that is no text", { action: true }],
    ["an inherited name", { action: "toString" }],
    ["the older word for an edit", { action: "edit", editedArtifactData: {} }],
    ["a refinement without feedback", { action: "refine" }],
    ["a refinement without a scope", { action: "refine", refineFeedback: { text: "Shorter." } }],
    ["a refinement of a scope nobody knows", { action: "refine", refineFeedback: { scope: "cover" } }],
    ["an edit without the artifact", { action: "edit-accept" }],
    ["an edited artifact beside a mere accept", { action: "accept", editedArtifactData: {} }],
    ["a question without words", { action: "ask" }],
    ["an empty question", { action: "ask", question: "" }],
    ["feedback that is no text", { action: "accept", feedback: { text: "Good." } }],
    ["a voter without a name", { action: "accept", voter: "" }],
    ["more than it knows", { action: "accept", override: true }],
    ["a decision beside an action", { action: "accept", decision: "approved" }],
    ["a decision of the governed gate", { decision: "granted" }],
  ])("is refused and the run still waits: %s", (_, value) => {
    const run = waiting();
    const before = run.events.length;
    expect(codeOf(() => run.resolve("gate", value))).toBe("validation_error");
    expect(run.events).toHaveLength(before);
    expect(run.audit).toEqual([]);
    expectStillWaits(run);
  });

  test.each(EVERY_ACTION)("is refused when the gate does not offer it: %s", (action) => {
    const run = waiting({ actions: EVERY_ACTION.filter((one) => one !== action) });
    const value = { action, refineFeedback, editedArtifactData: {}, question: "Why?" };
    expect(refusalOf(() => run.resolve("gate", value))).toMatchObject({ code: "validation_error" });
    expectStillWaits(run);
  });

  test("is refused by the author's own schema, which sees it as it was sent", () => {
    const resumeSchema = { required: ["feedback"], properties: { feedback: { minLength: 10 } } };
    const run = waiting({ resumeSchema });
    expect(codeOf(() => run.resolve("gate", { action: "accept" }))).toBe("validation_error");
    expect(codeOf(() => run.resolve("gate", { action: "accept", feedback: "ok" }))).toBe("validation_error");
    expectStillWaits(run);
    expect(run.resolve("gate", { action: "accept", feedback: "long enough" }).go().run.status).toBe("completed");
  });
});

describe("an answer in the older form", () => {
  test("approved is an accept", () => {
    const run = waiting().resolve("gate", { decision: "approved" }).go();
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({ action: "accept", approved: true });
  });

  test("rejected without feedback is a reject", () => {
    const run = waiting().resolve("gate", { decision: "rejected" }).go();
    expect(run.run.error?.code).toBe("approval_rejected");
  });

  test("rejected with feedback is a refinement of the whole", () => {
    const run = waiting().resolve("gate", { decision: "rejected", feedback: "Shorter." });
    expect(payloadsOf(run, "approval.received").at(-1)).toMatchObject({
      action: "refine",
      refineFeedback: { scope: "whole", text: "Shorter." },
    });
  });

  test("rejected with feedback is a reject where no refinement is offered", () => {
    const run = waiting({ actions: ["accept", "reject"] }).resolve("gate", { decision: "rejected", feedback: "No." });
    expect(payloadsOf(run, "approval.received").at(-1)).toMatchObject({ action: "reject", feedback: "No." });
  });

  test("is refused where the gate does not offer what it means", () => {
    const run = waiting({ actions: ["reject"] });
    expect(codeOf(() => run.resolve("gate", { decision: "approved" }))).toBe("validation_error");
    expectStillWaits(run);
  });
});

describe("a question at a gate", () => {
  test("is kept with its answer, and neither decides anything", () => {
    const run = waiting()
      .resolve("gate", { action: "ask", question: "Which region?" })
      .resolve("gate", { action: "ask", answer: "All of them." }, BEN);
    expect(interruptOf(run).remarks.map(({ by, text }) => [by, text])).toEqual([
      ["ana", "Which region?"],
      ["ben", "All of them."],
    ]);
    expect(interruptOf(run).votes).toEqual([]);
    expect(actionsOf(run.audit)).toEqual(["interrupt.asked", "interrupt.asked"]);
    expectStillWaits(run);
  });

  test("is no vote, however often it is asked, and takes no vote back", () => {
    const run = waiting({ requiredApprovals: 2 }).resolve("gate", { action: "accept" });
    for (const _ of [1, 2, 3]) run.resolve("gate", { action: "ask", question: "Sure?" });
    expect(interruptOf(run).votes).toMatchObject([{ voter: "ana", action: "accept" }]);
    expectStillWaits(run);
    expect(run.resolve("gate", { action: "accept" }, BEN).go().run.status).toBe("completed");
  });

  test("is refused when hundreds were asked before, and the gate can still be decided", () => {
    const run = waiting();
    const ask = () => run.resolve("gate", { action: "ask", question: "Are we there yet?" });
    for (let asked = 0; asked < 200; asked++) ask();
    expect(codeOf(ask)).toBe("validation_error");
    expect(interruptOf(run).remarks).toHaveLength(200);
    expectStillWaits(run);
    expect(run.resolve("gate", { action: "accept" }).go().run.status).toBe("completed");
  });
});
