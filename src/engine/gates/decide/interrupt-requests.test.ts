import { describe, expect, test } from "vitest";
import { somebody } from "../../../testing/judges.ts";
import { simulate } from "../../../testing/simulate.ts";
import { withNode } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";
import { InterruptTimedOut } from "../../worker/suspension.ts";

const gate = (config: Readonly<Record<string, unknown>> = {}) =>
  workflow({ nodes: { gate: { typeId: "core.approvalGate", config }, next: "core.noop" }, edges: ["gate>next"] });
const governed = workflow({
  nodes: { gate: { typeId: "core.openwop.governance.approvalGate", config: { requiredRole: "reviewer" } } },
});

describe("a request that is not a valid one", () => {
  const asked = (request: object) => {
    const nodeTypes = withNode(({ interrupt }) => ({
      type: "completed",
      outputs: { value: interrupt({ kind: "custom", data: { customKind: "x" }, ...request } as never) },
    }));
    return simulate(workflow({ nodes: { node: "test.node" } }), {}, { nodeTypes }).go();
  };

  test.each([
    ["a kind nobody knows", { kind: "telepathy" }],
    ["a kind of a capability that is not served", { kind: "conversation.start", data: { conversationId: "c" } }],
    ["an empty key", { key: "" }],
    ["a key that is too long", { key: "k".repeat(257) }],
    ["data that lacks what its kind needs", { data: {} }],
    ["an approval without actions", { kind: "approval", data: { artifactId: "a", artifactType: "t", title: "T" } }],
    ["an external event without correlation", { kind: "external-event", data: { eventType: "paid" } }],
    ["a time limit that is no whole number", { timeoutMs: 1.5 }],
    ["a time limit that is no number", { timeoutMs: Number.NaN }],
    ["a time limit in the past", { timeoutMs: -1 }],
    ["a schema that no answer could be checked against", { resumeSchema: { type: "nonsense" } }],
  ])("fails its node and leaves nothing open: %s", (_, request) => {
    const { run, story } = asked(request);
    expect(run).toMatchObject({ status: "failed", error: { code: "interrupt_invalid" } });
    expect(run.interrupts).toEqual({});
    expect(story).not.toContain("interrupt.requested:node");
  });

  const approval = { artifactId: "a", artifactType: "t", title: "T", actions: ["accept"] };
  test.each([
    ["a gate without a name", { gateId: "" }],
    ["a role that is no text", { gateId: "g", requiredRole: 5, requiredScope: "runs:read" }],
    ["a role without a name", { gateId: "g", requiredRole: "", requiredScope: "runs:read" }],
    ["a scope that is no text", { gateId: "g", requiredRole: "admin", requiredScope: ["*"] }],
    ["a quorum in words", { gateId: "g", requiredRole: "admin", quorum: "2" }],
    ["a quorum of nobody", { gateId: "g", requiredRole: "admin", quorum: 0 }],
    ["evidence that names no evaluation", { gateId: "g", requiredRole: "admin", requiredEval: true }],
    ["a role at a gate that is not governed", { requiredRole: "admin" }],
    ["a quorum at a gate that is not governed", { quorum: 2 }],
    ["approvers at a gate that is governed", { gateId: "g", requiredRole: "admin", approversList: ["ana"] }],
    ["a count at a gate that is governed", { gateId: "g", requiredRole: "admin", requiredApprovals: 2 }],
    ["people in words", { minHumans: "2" }],
    ["a policy nobody knows", { rejectionPolicy: "coin-toss" }],
    ["a prohibition in words", { forbidSelfApproval: "yes" }],
  ])("never asks for less than it seems to: %s", (_, data) => {
    expect(asked({ kind: "approval", data: { ...approval, ...data } }).run.error?.code).toBe("interrupt_invalid");
  });
});

describe("a node whose time is over", () => {
  const request = { kind: "custom", data: { customKind: "x" }, timeoutMs: 1000 } as const;

  test("fails when it does not expect that", () => {
    const nodeTypes = withNode(({ interrupt }) => ({ type: "completed", outputs: { value: interrupt(request) } }));
    const { run, story } = simulate(workflow({ nodes: { node: "test.node" } }), {}, { nodeTypes }).go();
    expect(run).toMatchObject({ status: "failed", error: { code: "interrupt_timeout" } });
    expect(story.slice(4)).toEqual(["interrupt.resolved:node", "node.resumed:node", "node.failed:node", "run.failed"]);
  });

  test("may expect it, and go on or ask for something else", () => {
    const nodeTypes = withNode(({ interrupt }) => {
      try {
        return { type: "completed", outputs: { value: interrupt(request) } };
      } catch (error) {
        if (!(error instanceof InterruptTimedOut)) throw error;
        return { type: "completed", outputs: { late: interrupt({ ...request, key: "again" }) } };
      }
    });
    const run = simulate(workflow({ nodes: { node: "test.node" } }), {}, { nodeTypes }).turn();
    run.advance(1000).turn().resolve("node", "here").go();
    expect(run.run.outputs).toEqual({ late: "here" });
    expect(Object.values(run.run.interrupts).map(({ status }) => status)).toEqual(["expired", "resolved"]);
  });

  test("is told apart from one that somebody answers with the word timeout", () => {
    const reject = { action: "reject", feedback: "timeout" };
    const rejected = simulate(gate()).turn().resolve("gate", reject).go();
    expect(Object.values(rejected.run.interrupts)[0]).toMatchObject({ status: "resolved", outcome: "rejected" });
    expect(rejected.run.error?.code).toBe("approval_rejected");

    const accepted = simulate(gate()).turn().resolve("gate", { action: "accept", feedback: "timeout" }).go();
    expect(accepted.run.status).toBe("completed");

    const overruled = simulate(governed).turn();
    overruled.resolve("gate", { decision: "granted", reason: "timeout" }, somebody("rita")).go();
    expect(Object.values(overruled.run.interrupts)[0]).toMatchObject({ status: "resolved", outcome: "granted" });
    expect(overruled.run.status).toBe("completed");
  });
});
