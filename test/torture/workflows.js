// @ts-check
// What the crash test runs. Small graphs, because what is under test is what happens between their events.
import { GATES } from "./gate-workflows.js";

/**
 * @typedef {object} TortureWorkflow
 * @property {Record<string, unknown>} definition
 * @property {readonly string[]} ends how it may end when nobody cancels it
 * @property {readonly string[]} [completes] the nodes that complete, each once, when it gets to its end; of a gate that is
 *   for its voters to decide
 */

/** @type {Record<string, TortureWorkflow>} */
export const WORKFLOWS = {
  noop: workflow("torture-noop", [{ id: "a", typeId: "core.noop" }], "completed"),
  chain: workflow(
    "torture-chain",
    [
      { id: "a", typeId: "core.identity", inputs: { n: { type: "variable", variableName: "n" } } },
      { id: "b", typeId: "core.noop" },
      { id: "c", typeId: "core.channelWrite", config: { channelName: "seen", reducer: "append", value: 1 } },
      { id: "d", typeId: "core.identity", inputs: { n: { type: "connection", nodeId: "a", outputKey: "n" } } },
      { id: "e", typeId: "core.channelWrite", config: { channelName: "seen", reducer: "append", value: 2 } },
    ],
    "completed",
  ),
  delay: workflow("torture-delay", [sleep("a"), { id: "b", typeId: "core.noop" }], "completed"),
  // Long enough for a kill, a pause or a cancellation to fall between two of its nodes.
  naps: workflow("torture-naps", [sleep("a"), sleep("b"), sleep("c"), sleep("d")], "completed"),
  fail: workflow("torture-fail", [{ id: "a", typeId: "core.noop" }, failing("b", {})], "failed"),
  retry: workflow("torture-retry", [failing("a", { maxRetries: 2, retryDelayMs: 20 })], "failed"),
  ...Object.fromEntries(Object.entries(GATES).map(([name, gate]) => [name, gated(`torture-${name}`, gate)])),
};

/** @typedef {keyof typeof WORKFLOWS} WorkflowName */

/**
 * Nodes in a row.
 * @param {string} id
 * @param {readonly { id: string, typeId: string, config?: object, inputs?: object, settings?: object }[]} nodes
 * @param {"completed" | "failed"} ends
 * @returns {TortureWorkflow}
 */
function workflow(id, nodes, ends) {
  const edges = nodes.slice(1).map((node, i) => ({
    id: `e${i}`,
    sourceNodeId: /** @type {{ id: string }} */ (nodes[i]).id,
    targetNodeId: node.id,
  }));
  const completes = nodes.filter((node) => node.typeId !== "core.fail").map((node) => node.id);
  return { definition: definitionOf(id, nodes, edges), ends: [ends], completes };
}

/**
 * @param {string} id
 * @param {typeof GATES[string]} gate
 * @returns {TortureWorkflow}
 */
function gated(id, { nodes, edges, variables }) {
  const row = [{ id: "e0", sourceNodeId: nodes[0]?.id, targetNodeId: nodes[1]?.id }];
  return { definition: definitionOf(id, nodes, edges ?? row, variables), ends: ["completed", "failed"] };
}

/**
 * @param {string} id
 * @param {readonly { id: string }[]} nodes
 * @param {readonly object[]} edges
 * @param {readonly object[]} [variables]
 */
function definitionOf(id, nodes, edges, variables = []) {
  return {
    id,
    name: id,
    version: "1",
    nodes: nodes.map((node, i) => ({ name: node.id, position: { x: i, y: 0 }, config: {}, inputs: {}, ...node })),
    edges,
    triggers: [{ id: "manual", type: "manual", enabled: true }],
    variables: [
      { name: "n", type: "number", defaultValue: 0 },
      { name: "napMs", type: "number", defaultValue: 1 },
      ...variables,
    ],
    metadata: {},
    settings: {},
  };
}

/** @param {string} id */
function sleep(id) {
  return { id, typeId: "core.delay", inputs: { delayMs: { type: "variable", variableName: "napMs" } } };
}

/**
 * @param {string} id
 * @param {object} settings
 */
function failing(id, settings) {
  return { id, typeId: "core.fail", config: { message: "as asked", retryable: true }, settings };
}
