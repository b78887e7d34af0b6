// @ts-check
import { APPROVERS } from "./tenants.js";

/**
 * Workflows that wait for somebody. How they end depends on what is decided, so what is checked is that the log says
 * who decided it.
 * @typedef {object} GateNode
 * @property {string} id
 * @property {string} typeId
 * @property {object} [config]
 * @property {object} [inputs]
 */

const after = { id: "after", typeId: "core.noop" };

/** How long the gate with a deadline waits: about as long as its voters take. */
export const deadlineMs = 400;

/** @type {Record<string, { nodes: readonly GateNode[], edges?: readonly object[], variables?: readonly object[] }>} */
export const GATES = {
  plain: { nodes: [gate({ actions: ["accept", "reject"] }), after] },
  quorum: {
    nodes: [gate({ requiredApprovals: 3, rejectionPolicy: "majority", approversList: APPROVERS }), after],
  },
  deadline: { nodes: [gate({ timeoutMs: deadlineMs }), after] },
  governed: {
    nodes: [
      {
        id: "gate",
        typeId: "core.openwop.governance.approvalGate",
        // Votes by node do not say which visit they are for.
        config: { requiredRole: "admin", quorum: 2, requireBoundVotes: false },
      },
      after,
      { id: "revise", typeId: "core.noop" },
    ],
    // In place of the row: a reject goes back to the gate.
    edges: [
      { id: "granted", sourceNodeId: "gate", targetNodeId: "after" },
      {
        id: "rejected",
        sourceNodeId: "gate",
        targetNodeId: "revise",
        condition: { type: "equals", left: "output.decision", right: "rejected" },
      },
      { id: "again", sourceNodeId: "revise", targetNodeId: "gate" },
    ],
  },
  event: {
    nodes: [
      {
        id: "gate",
        typeId: "core.interrupt",
        config: { kind: "external-event", data: { eventType: "torture.event" } },
        inputs: { correlation: { type: "variable", variableName: "correlation" } },
      },
      after,
    ],
    variables: [{ name: "correlation", type: "object" }],
  },
  parent: { nodes: [{ id: "child", typeId: "core.subWorkflow", config: { workflowId: "torture-child" } }, after] },
  child: { nodes: [gate({}), after] },
};

/**
 * @param {object} config
 * @returns {GateNode}
 */
function gate(config) {
  return { id: "gate", typeId: "core.approvalGate", config };
}
