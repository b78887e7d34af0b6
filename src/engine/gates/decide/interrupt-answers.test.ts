import { describe, expect, test } from "vitest";
import { correlationIdOf } from "../../../formats/gates/gate-digest.ts";
import { ANA, actionsOf, codeOf, TOKEN } from "../../../testing/judges.ts";
import { type Simulation, simulate } from "../../../testing/simulate.ts";
import { interruptOf } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";

const AUTH_REQUIRED = "openwop-interrupt-auth-required";
const waiting = (typeId: string, config: Readonly<Record<string, unknown>>) =>
  simulate(workflow({ nodes: { node: { typeId, config } } })).turn();
const refused = (run: Simulation, value: unknown, code = "validation_error", by = ANA) => {
  const before = run.events.length;
  expect(codeOf(() => run.resolve("node", value, by))).toBe(code);
  expect(run.events).toHaveLength(before);
  expect(interruptOf(run).status).toBe("open");
};
const resolution = ({ events }: Simulation) => events.find(({ type }) => type === "interrupt.resolved")?.payload;

describe("questions that wait for answers", () => {
  const questions = [
    { id: "colour", question: "Which colour?", schema: { enum: ["red", "blue"] } },
    { id: "why", question: "Why?" },
  ];
  const asked = (more: object = {}) => waiting("core.clarificationGate", { questions, ...more });
  const answers = { colour: "red", why: null };

  test("are answered by their ids, or by a list of them", () => {
    for (const value of [
      { answers },
      { answers: questions.map(({ id }) => ({ id, answer: { ...answers }[id as "why"] })) },
    ]) {
      const run = asked().resolve("node", value);
      expect(run.story.slice(-3)).toEqual([
        "clarification.resolved:node",
        "interrupt.resolved:node",
        "node.resumed:node",
      ]);
      expect(run.events.at(-3)?.payload).toEqual({ nodeId: "node", answers, answeredBy: "ana" });
      expect(resolution(run)).toMatchObject({ outcome: "answered", resolvedBy: "ana", resumeValue: { answers } });
      expect(actionsOf(run.audit)).toEqual(["interrupt.resolved"]);
      expect(run.go().run).toMatchObject({ status: "completed", outputs: { answers } });
    }
  });

  test.each([
    ["nothing", null],
    ["no answers", {}],
    ["answers that are a text", { answers: "red" }],
    ["one answer too few", { answers: { colour: "red" } }],
    ["an answer to what nobody asked", { answers: { ...answers, size: 3 } }],
    ["an answer that its schema does not allow", { answers: { ...answers, colour: "green" } }],
    ["an inherited name for an answer", { answers: { colour: "red", toString: 1 } }],
    [
      "a list with one answer twice",
      {
        answers: [
          { id: "why", answer: 1 },
          { id: "why", answer: 2 },
        ],
      },
    ],
    ["a list without answers", { answers: [{ id: "why" }, { id: "colour" }] }],
    ["a list of nothing", { answers: [null] }],
  ])("refuse and wait on: %s", (_, value) => {
    const run = asked();
    refused(run, value);
    expect(run.run.status).toBe("waiting-input");
  });

  test("take a token, unless the profile wants a key", () => {
    expect(asked().resolve("node", { answers }, TOKEN).go().run.status).toBe("completed");
    refused(asked({ profile: AUTH_REQUIRED }), { answers }, "auth_elevation_required", TOKEN);
  });
});

describe("an external event that is waited for", () => {
  const correlation = { order: 7, of: { shop: "north", lines: [1, 2] } };
  const config = { kind: "external-event", data: { eventType: "paid", correlation } };
  const awaited = (more: object = {}) => waiting("core.interrupt", { ...config, ...more });

  test("shows what it is known by", () => {
    const run = awaited();
    expect(run.run.status).toBe("waiting-external");
    expect(interruptOf(run).correlationId).toBe(correlationIdOf(correlation));
    expect(correlationIdOf({ of: { lines: [1, 2], shop: "north" }, order: 7 })).toBe(correlationIdOf(correlation));
  });

  test("is whatever carries the correlation, with more beside it", () => {
    const event = { ...correlation, amount: 12 };
    const run = awaited().resolve("node", event);
    expect(resolution(run)).toMatchObject({ outcome: "answered", resumeValue: event });
    expect(run.go().run).toMatchObject({ status: "completed", outputs: event });
  });

  test("is also what carries the id of the correlation, and the node gets the correlation with it", () => {
    const event = { correlationId: correlationIdOf(correlation), amount: 12 };
    const run = awaited().resolve("node", event);
    expect(run.go().run).toMatchObject({ status: "completed", outputs: { ...event, ...correlation } });
  });

  test.each([
    ["the id of another correlation", { correlationId: correlationIdOf({ order: 8 }) }],
    ["the right id and another value", { correlationId: correlationIdOf(correlation), order: 8 }],
    ["another value", { ...correlation, order: 8 }],
    ["a value of another type", { ...correlation, order: "7" }],
    ["a part of a value", { ...correlation, of: { shop: "north" } }],
    ["more inside a value", { ...correlation, of: { ...correlation.of, extra: 1 } }],
    ["a list in another order", { ...correlation, of: { shop: "north", lines: [2, 1] } }],
    ["a key too few", { order: 7 }],
    ["nothing", null],
    ["a list", [correlation]],
    ["a text", "7"],
  ])("is not one with %s, and the run waits on", (_, event) => {
    const run = awaited();
    refused(run, event, "correlation_mismatch");
    expect(run.run.status).toBe("waiting-external");
  });

  test("is held to the author's schema too", () => {
    const run = awaited({ resumeSchema: { required: ["amount"] } });
    refused(run, correlation);
    expect(run.resolve("node", { ...correlation, amount: 1 }).go().run.status).toBe("completed");
  });
});

describe("something of the author's own that is waited for", () => {
  const custom = (more: object = {}) =>
    waiting("core.interrupt", { kind: "custom", data: { customKind: "pick" }, ...more });

  test.each([[null], [0], [""], [false], [[1, 2]], ["text"], [{ a: { b: 1 } }]])(
    "may be anything, and is kept: %j",
    (value) => {
      const run = custom().resolve("node", value);
      expect(resolution(run)).toMatchObject({ resumeValue: value });
      const outputs = typeof value === "object" && value !== null && !Array.isArray(value) ? value : { value };
      expect(run.go().run).toMatchObject({ status: "completed", outputs });
    },
  );

  test("is held to the author's schema where there is one", () => {
    const run = custom({ resumeSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } });
    for (const value of [null, {}, { n: "1" }]) refused(run, value);
    expect(run.run.status).toBe("waiting-input");
    expect(run.resolve("node", { n: 1 }).go().run.outputs).toEqual({ n: 1 });
  });
});

describe("a decision of little confidence", () => {
  const data = { agentId: "writer", threshold: 0.7, observed: 0.4, decision: { send: true } };

  test("waits for approval, says why it is suspended, and goes on with what somebody ratifies", () => {
    const run = waiting("core.interrupt", { kind: "low-confidence", data });
    expect(run.run.status).toBe("waiting-approval");
    expect(run.events.at(-1)?.payload).toMatchObject({ kind: "low-confidence", reason: "low-confidence" });
    expect(run.resolve("node", { send: false }).go().run.outputs).toEqual({ send: false });
  });

  test.each([[{ action: "reject" }], [{ decision: "rejected" }], [{ decision: "rejected", reason: "too much" }]])(
    "that is rejected fails its node, and nothing goes on: %j",
    (value) => {
      const run = waiting("core.interrupt", { kind: "low-confidence", data }).resolve("node", value).go().run;
      expect(run.status).toBe("failed");
      expect(run.error).toMatchObject({ code: "approval_rejected" });
    },
  );

  test.each([
    [{ action: "ask", question: "Why?" }],
    [{ action: "refine", refineFeedback: { scope: "whole", text: "less" } }],
    [{ action: "edit-accept", editedArtifactData: {} }],
  ])("is neither ratified nor rejected by what only gates take: %j", (value) => {
    const run = waiting("core.interrupt", { kind: "low-confidence", data });
    refused(run, value);
    expect(run.run.status).toBe("waiting-approval");
  });
});

describe("an approval asked for by the plain primitive", () => {
  const approval = (more: object = {}) =>
    waiting("core.interrupt", { kind: "approval", data: { title: "May I?", ...more } });

  test("follows the rules of a gate", () => {
    const run = approval({ requiredApprovals: 2, approversList: ["ana", "ben"] });
    refused(run, { action: "maybe" });
    run.resolve("node", { action: "accept" });
    expect(run.go().run.status).toBe("waiting-approval");
    expect(run.resolve("node", { action: "reject" }).go().run.error?.code).toBe("approval_rejected");
  });

  test("opens when it is accepted, and hands on that it was", () => {
    const run = approval().resolve("node", { action: "accept" }).go();
    expect(run.run).toMatchObject({ status: "completed", outputs: { approved: true, decision: "granted" } });
  });
});
