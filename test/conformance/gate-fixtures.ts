import { workflow } from "../../src/testing/workflow.ts";

const PLAIN = "core.approvalGate";
const GOVERNED = "core.openwop.governance.approvalGate";

/** One gate and a node that must not be reached unless it opens. */
function gate(id: string, typeId: string, config: Record<string, unknown>) {
  return workflow({ id, nodes: { gate: { typeId, config }, after: "core.noop" }, edges: ["gate>after"] });
}

/** A reject goes to a node that revises, and from there to the gate again. */
function looping(id: string, config: Record<string, unknown>) {
  return workflow({
    id,
    nodes: { gate: { typeId: GOVERNED, config }, revise: "core.noop", after: "core.noop" },
    edges: [
      { from: "gate", to: "after" },
      {
        from: "gate",
        to: "revise",
        condition: { type: "equals", left: "output.decision", right: "rejected" },
      },
      "revise>gate",
    ],
  });
}

function external(id: string, correlation: object) {
  const data = { eventType: "order.changed", correlation };
  const config = { kind: "external-event", data, timeoutMs: 60_000 };
  return workflow({ id, nodes: { "wait-for-external": { typeId: "core.interrupt", config } } });
}

const PLAIN_GATES = [
  gate("approval", PLAIN, { title: "Ship it?", actions: ["accept", "reject"] }),
  gate("approval-bare", PLAIN, {}),
  gate("approval-refine", PLAIN, { actions: ["accept", "reject", "refine", "ask"] }),
  gate("approval-edit-accept", PLAIN, { actions: ["accept", "edit-accept"], artifactData: { text: "draft" } }),
  gate("approval-short", PLAIN, { timeoutMs: 400 }),
  gate("auth-required", PLAIN, { profile: "openwop-interrupt-auth-required" }),
  gate("quorum", PLAIN, { requiredApprovals: 3, rejectionPolicy: "majority", approversList: [] }),
  gate("quorum-veto", PLAIN, { requiredApprovals: 2, approversList: ["vera", "rob", "amy"] }),
  gate("routed-list", PLAIN, { approversList: ["vera"] }),
  gate("routed-group", PLAIN, { approverGroupRefs: ["release"] }),
  gate("routed-role", PLAIN, { approverRoleRefs: ["admin"] }),
  workflow({
    id: "clarification",
    nodes: {
      ask: {
        typeId: "core.clarificationGate",
        config: { questions: [{ id: "q1", question: "Which colour?", schema: { type: "string" } }] },
      },
    },
  }),
  external("external-event", { orderId: "order-1", status: "completed" }),
  external("external-event-early", { orderId: "order-early" }),
];

const GOVERNED_GATES = [
  gate("governed", GOVERNED, { requiredRole: "admin" }),
  gate("governed-unknown-role", GOVERNED, { requiredRole: "pope" }),
  gate("governed-quorum", GOVERNED, { requiredRole: "admin", quorum: 2 }),
  gate("governed-override", GOVERNED, { requiredRole: "admin", quorum: 2, override: { requiredRole: "owner" } }),
  gate("governed-bypass", GOVERNED, {
    requiredRole: "admin",
    quorum: 2,
    override: { requiredRole: "owner" },
    overrideBypassesQuorum: true,
  }),
  gate("governed-short", GOVERNED, { requiredRole: "admin", timeoutSec: 0.3 }),
  looping("governed-loop", { requiredRole: "admin" }),
];

const FAMILIES = [
  workflow({
    id: "parent-of-gate",
    nodes: { "spawn-child": { typeId: "core.subWorkflow", config: { workflowId: "child-with-gate" } } },
  }),
  workflow({
    id: "grandparent-of-gate",
    nodes: { "spawn-parent": { typeId: "core.subWorkflow", config: { workflowId: "parent-of-gate" } } },
  }),
  workflow({ id: "child-with-gate", nodes: { "child-gate": PLAIN } }),
  workflow({
    id: "sub-parent",
    nodes: {
      "parent-start": "core.noop",
      "subwf-call": {
        typeId: "core.subWorkflow",
        config: { workflowId: "sub-child", inputMapping: { given: "sent" }, outputMapping: { received: "given" } },
      },
      "parent-end": "core.noop",
    },
    edges: ["parent-start>subwf-call", "subwf-call>parent-end"],
    variables: [
      { name: "sent", type: "object" },
      { name: "received", type: "object" },
    ],
  }),
  workflow({
    id: "sub-child",
    nodes: { noop: "core.noop" },
    variables: [{ name: "given", type: "object", defaultValue: { from: "the child's default" } }],
  }),
  ...(["fail-parent", "absorb"] as const).map((onChildFailure) =>
    workflow({
      id: `sub-${onChildFailure}`,
      nodes: {
        "subwf-call": { typeId: "core.subWorkflow", config: { workflowId: "failing", onChildFailure } },
        "parent-end": "core.noop",
      },
      edges: ["subwf-call>parent-end"],
    }),
  ),
];

/** What an outside suite would seed, in our own words: runs that wait for somebody or something. */
export const GATE_FIXTURES = [...PLAIN_GATES, ...GOVERNED_GATES, ...FAMILIES];
