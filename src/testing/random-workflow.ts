import { DISPATCH, SUPERVISOR } from "../protocol/runs/orchestrator.ts";
import type { TriggerRule, WorkflowDefinition } from "../protocol/workflows/workflow.ts";
import { TRIGGER_RULES } from "../protocol/workflows/workflow.ts";
import { workflow } from "./workflow.ts";

/** Numbers from 0 to below 1, the same for the same seed. */
export type Random = () => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

/** Names that are easy to get wrong: what every object has, and what a secret reads like. */
const NAMES = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "secret-word", "status"];

export const SECRET = "word";

const CONDITIONS = [
  undefined,
  { type: "equals", left: "status", right: "completed" },
  { type: "notEquals", left: "status", right: "completed" },
  { type: "expression", expression: "variables.count > 2" },
  { type: "truthy", left: "output.nothing" },
  { type: "contains", left: "variables.password", right: SECRET },
  { type: "equals", left: "output.action", right: "reject" },
  { type: "equals", left: "output.decision", right: "rejected" },
] as const;

/**
 * A workflow of up to a dozen nodes with everything that decides an order: edges, rules, conditions, loops, failures,
 * gates, and runs of the workflows in `others`.
 */
export function randomWorkflow(
  random: Random,
  id = "test-workflow",
  others: readonly string[] = [],
): WorkflowDefinition {
  const count = 1 + Math.floor(random() * 11);
  const ids = Array.from({ length: count }, (_, i) => (random() < 0.2 ? (NAMES[i] ?? `n${i}`) : `n${i}`));
  const nodes = Object.fromEntries(ids.map((name) => [name, randomNode(random, name, others)]));
  const edges = [];
  for (let to = 1; to < count; to++) {
    for (let from = 0; from < to; from++) {
      if (random() < 1.6 / to) edges.push(randomEdge(random, ids[from] as string, ids[to] as string));
    }
  }
  if (others.length > 0 && random() < 0.35) {
    Object.assign(nodes, orchestration(random, others));
    edges.push({ from: "boss", to: "do" }, { from: "do", to: "boss" });
    if (random() < 0.5) edges.push({ ...randomEdge(random, "do", ids[0] as string), triggerRule: "all_complete" });
    if (random() < 0.3) edges.push(randomEdge(random, ids.at(-1) as string, "boss"));
  }
  for (let back = Math.floor(random() * 3); back > 0; back--) {
    const from = Math.floor(random() * count);
    const to = Math.floor(random() * (from + 1));
    edges.push({ ...randomEdge(random, ids[from] as string, ids[to] as string), condition: pick(random, CONDITIONS) });
  }
  return workflow({
    id,
    nodes,
    edges: edges.map((edge, i) => ({ ...edge, id: NAMES[i] ?? `e${i}` })) as never,
    variables: [
      { name: "count", type: "number", defaultValue: Math.floor(random() * 5) },
      { name: "password", type: "string", sensitive: true, defaultValue: SECRET },
    ],
    channels: { hidden: { reducer: "append", maxSize: 3, sensitive: true }, constructor: { reducer: "counter" } },
    settings: {
      maxRetries: Math.floor(random() * 3),
      maxLoopbackIterations: 1 + Math.floor(random() * 3),
      ...(random() < 0.2 ? { timeout: 1 + Math.floor(random() * 20_000) } : {}),
    },
  });
}

function randomEdge(random: Random, from: string, to: string) {
  const condition = pick(random, CONDITIONS);
  const triggerRule: TriggerRule | undefined = random() < 0.5 ? undefined : pick(random, TRIGGER_RULES);
  return { from, to, ...(condition && { condition }), ...(triggerRule && { triggerRule }) };
}

function randomNode(random: Random, id: string, others: readonly string[]) {
  const disabled = random() < 0.05 ? { disabled: true } : {};
  const password = { type: "variable" as const, variableName: "password" };
  if (others.length > 0 && random() < 0.25) return { ...subWorkflow(random, pick(random, others)), ...disabled };
  switch (Math.floor(random() * 11)) {
    case 0:
      return { typeId: "core.delay", config: { ms: Math.floor(random() * 5000) }, ...disabled };
    case 1:
      return { typeId: "core.fail", config: { message: `no ${SECRET}`, retryable: random() < 0.5 }, ...disabled };
    case 2:
      return { typeId: "core.identity", inputs: { copy: password }, ...disabled };
    case 3:
      return {
        typeId: "core.identity",
        inputs: { count: { type: "expression" as const, expression: "variables.count + 1.0" } },
        ...disabled,
      };
    case 4:
      return {
        typeId: "core.channelWrite",
        config: { channelName: pick(random, ["hidden", "constructor", "toString"]), value: 1 },
        ...disabled,
      };
    case 5:
    case 6:
      return { ...gate(random), ...disabled };
    case 7:
    case 8:
      return { typeId: "test.effect", config: { of: id }, ...disabled };
    default:
      return { typeId: "core.noop", ...disabled };
  }
}

function subWorkflow(random: Random, workflowId: string) {
  return {
    typeId: "core.subWorkflow",
    config: {
      workflowId,
      onChildFailure: pick(random, ["fail-parent", "absorb"]),
      waitForCompletion: random() < 0.8,
      propagateCancellation: random() < 0.8,
      inputMapping: pick(random, [{}, { given: "password" }, { count: "count", password: "given" }]),
      outputMapping: pick(random, [{}, { got: "password", given: "given" }, { count: "count", text: "copy" }]),
    },
  };
}

/** A supervisor, whose decisions whoever executes it makes up, and its dispatch. */
function orchestration(random: Random, others: readonly string[]) {
  const mappings = [{}, { got: "password", given: "given" }, { count: "count", text: "copy" }];
  return {
    boss: { typeId: SUPERVISOR, config: { workers: others.map((workflowId) => ({ workflowId })) } },
    do: {
      typeId: DISPATCH,
      config: {
        fanOutPolicy: random() < 0.9 ? "sequential" : "reject",
        inputMapping: pick(random, [{}, { given: "password" }, { count: "count", password: "given" }]),
        outputMapping: pick(random, mappings),
        perWorkerOutputMappings: { w2: pick(random, mappings) },
        ...(random() < 0.2 ? { iterationCap: 1 + Math.floor(random() * 3) } : {}),
      },
    },
  };
}

function gate(random: Random) {
  const timeout = random() < 0.3 ? { timeoutMs: 1000 + Math.floor(random() * 3000) } : {};
  const questions = [{ id: "q1", question: `what is the ${SECRET}?` }];
  return pick(random, [
    {
      typeId: "core.approvalGate",
      config: {
        title: `the ${SECRET}`,
        actions: ["accept", "reject", "refine", "ask"],
        requiredApprovals: pick(random, [1, 2]),
        rejectionPolicy: pick(random, ["single-veto", "majority"]),
        ...timeout,
      },
    },
    {
      typeId: "core.openwop.governance.approvalGate",
      config: { requiredRole: "reviewer", quorum: pick(random, [1, 2]) },
    },
    { typeId: "core.clarificationGate", config: { questions, ...timeout } },
  ]);
}
