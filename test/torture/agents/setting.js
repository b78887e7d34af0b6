// @ts-check
// The agents, suite and workflows of the crash test: an agent that is a program and leaves a trace of every call, one that follows a
// script and remembers things, and a supervisor.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KEYS } from "../tenants.js";

export const PROGRAM = "local.torture.work.program";
export const SCRIPTED = "local.torture.work.scripted";
/** Its versions are promoted and paused. Nobody asks it: a run without an active version is refused, and fails where both are paused meanwhile. */
export const DEPLOYED = "local.torture.work.deployed";
export const SUITE = "local.torture.evals.echo@1.0.0";
export const COST_USD = 0.01;
/** What the program answers to this is wrong. */
const WRONG = 9;
const TASKS = 12;
/** What an evaluation comes to that nothing disturbs. */
export const UNDISTURBED = { taskCount: TASKS, passedCount: TASKS - 3, aggregateScore: (TASKS - 3) / TASKS };
export const TASK_IDS = Array.from({ length: TASKS }, (_, i) => `t${i}`);

// Each call is a line in a file for its run, task and trial: when it began. Nothing else tells what was really called.
const AGENT = `
read -r input
date +%s%N >> "$1/$ASSAY_RUN_ID.\${ASSAY_TASK_ID:-node}.\${ASSAY_TRIAL:-1}"
sleep "0.0$((input % 7))"
[ "$input" -ge ${WRONG} ] && input=-1
echo "$input"
echo '{"inputTokens": 1, "outputTokens": 1, "costUsd": ${COST_USD}}' >&3
`;

const suite = {
  suiteId: SUITE.split("@")[0],
  version: "1.0.0",
  modes: ["golden"],
  tasks: TASK_IDS.map((taskId, i) => ({
    taskId,
    input: i,
    expected: { kind: "golden", match: { strategy: "exact", value: i } },
  })),
};

/** @param {string} version */
function packOf(version) {
  const agent = { persona: "Worker", modelClass: "general", systemPromptRef: "prompt.md" };
  const remembers = { toolAllowlist: ["memory:put"], memoryShape: { longTerm: true } };
  return {
    name: "local.torture.work",
    version,
    engines: { openwop: ">=1.0 <2.0.0" },
    runtime: { language: "remote", entry: "agents" },
    agents: [
      { ...agent, agentId: PROGRAM },
      { ...agent, agentId: SCRIPTED, ...remembers },
      { ...agent, agentId: DEPLOYED },
    ],
  };
}

const remembering = {
  toolCalls: [{ name: "memory:put", arguments: { content: "seen" } }],
  chunks: ["so ", "be ", "it"],
  delayMs: 20,
  echo: "input",
};

/** @type {Record<string, { id: string, [more: string]: unknown }>} */
export const WORKFLOWS = {
  agents: workflow("torture-agents", [
    { id: "program", typeId: "assay.agent", agent: { agentId: PROGRAM }, inputs: { task: given(1) } },
    { id: "scripted", typeId: "assay.agent", agent: { agentId: SCRIPTED }, inputs: { task: given("a") } },
  ]),
  worker: workflow("torture-worker", [{ id: "nap", typeId: "core.delay", inputs: { delayMs: given(30) } }]),
  led: {
    ...workflow("torture-led", [
      { id: "boss", typeId: "core.orchestrator.supervisor", config: { mockDispatchPlan: planned() } },
      { id: "do", typeId: "core.dispatch" },
    ]),
    edges: [edge("boss", "do"), edge("do", "boss")],
  },
};
/** How many runs its supervisor hands out. */
export const HANDED_OUT = 3;

function planned() {
  const next = (/** @type {string[]} */ ...nextWorkerIds) => ({ kind: "next-worker", nextWorkerIds, confidence: 1 });
  const worker = "torture-worker";
  return [next(worker, worker), next(worker), { kind: "terminate", reason: "done", confidence: 1 }];
}

/**
 * @param {string} folder
 * @returns {{ args: string[], traces: string }} what servers are started with, and where the program leaves its traces
 */
export function writeSetting(folder) {
  const at = (/** @type {string[]} */ ...parts) => join(folder, ...parts);
  const write = (/** @type {string} */ path, /** @type {unknown} */ value) =>
    writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value), { mode: 0o600 });
  for (const name of ["traces", "workflows", "suites", "packs/one", "packs/two"])
    mkdirSync(at(name), { recursive: true });
  for (const [name, version] of [
    ["one", "1.0.0"],
    ["two", "2.0.0"],
  ]) {
    write(at("packs", String(name), "pack.json"), packOf(String(version)));
    write(at("packs", String(name), "prompt.md"), "You work.");
  }
  for (const definition of Object.values(WORKFLOWS)) write(at("workflows", `${definition.id}.json`), definition);
  write(at("agent.sh"), AGENT);
  write(at("suites", "echo.json"), suite);
  write(at("keys.json"), KEYS);
  const program = {
    type: "command",
    program: "/bin/sh",
    args: ["agent.sh", at("traces")],
    killMs: 200,
    tenants: ["*"],
  };
  const script = { type: "scripted", script: { default: remembering }, tenants: ["*"] };
  write(at("agents.json"), { bindings: { [PROGRAM]: program, [SCRIPTED]: script, [DEPLOYED]: script } });
  return {
    traces: at("traces"),
    args: [
      ...["--keys", at("keys.json"), "--workflows", at("workflows"), "--strict"],
      ...["--packs", at("packs"), "--allow-unsigned", "--agents", at("agents.json"), "--suites", at("suites")],
    ],
  };
}

/**
 * Nodes in a row.
 * @param {string} id
 * @param {readonly { id: string, typeId: string, [more: string]: unknown }[]} nodes
 */
function workflow(id, nodes) {
  return {
    id,
    name: id,
    version: "1",
    nodes: nodes.map((node, i) => ({ name: node.id, position: { x: i, y: 0 }, config: {}, inputs: {}, ...node })),
    edges: nodes.slice(1).map((node, i) => edge(/** @type {{ id: string }} */ (nodes[i]).id, node.id)),
    triggers: [{ id: "manual", type: "manual", enabled: true }],
    variables: [],
    metadata: {},
    settings: {},
  };
}

/**
 * @param {string} sourceNodeId
 * @param {string} targetNodeId
 */
function edge(sourceNodeId, targetNodeId) {
  return { id: `${sourceNodeId}-${targetNodeId}`, sourceNodeId, targetNodeId };
}

/** @param {unknown} value */
function given(value) {
  return { type: "static", value };
}
