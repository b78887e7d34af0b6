import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { DISPATCH, SUPERVISOR } from "../../protocol/runs/orchestrator.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import { DONE, next, orchestrated } from "../../testing/orchestration.ts";
import { workflow } from "../../testing/workflow.ts";
import { NODE_TYPES, servedTypes } from "../nodes/all.ts";
import { checkWorkflow } from "./check-workflow.ts";

const good = workflow({ nodes: { a: "core.noop", b: "core.noop" }, edges: ["a>b"] });
const refusal = (change: object): AppError => {
  try {
    checkWorkflow(NODE_TYPES, { ...good, ...change });
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error("accepted");
};
const node = (id: string, more: object = {}) => ({ ...good.nodes[0], id, ...more });
const edge = (more: object) => ({ id: "e", sourceNodeId: "a", targetNodeId: "b", ...more });
const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`to${i}`, "from"]));

describe("a definition", () => {
  test("is accepted when everything in it is known, and two texts of one value have one hash", () => {
    const reordered = Object.fromEntries(Object.entries(good).reverse());
    expect(checkWorkflow(NODE_TYPES, good).hash).toBe(checkWorkflow(NODE_TYPES, reordered).hash);
  });

  test.each([
    ["an unknown property", { colour: "red" }, /colour/],
    ["an unknown property of a node", { nodes: [node("a", { colour: 1 }), node("b")] }, /colour/],
    ["an unknown property of an edge", { edges: [edge({ colour: 1 })] }, /colour/],
    ["an id of the host's own", { id: "assay-eval" }, /begin with "assay-"/],
    ["no nodes", { nodes: [], edges: [] }, /nodes/],
    ["two nodes of one id", { nodes: [node("a"), node("a")], edges: [] }, /two nodes have the id "a"/],
    ["two edges of one id", { edges: [edge({}), edge({})] }, /two edges/],
    ["an edge that ends nowhere", { edges: [edge({ targetNodeId: "z" })] }, /names node "z"/],
    ["an id out of pattern", { id: "Not An Id" }, /id/],
    [
      "a config its type does not take",
      { nodes: [node("a", { typeId: "core.delay", config: { ms: -1 } }), node("b")] },
      /config of node "a"/,
    ],
    [
      "a mapping of more names than a workflow may declare variables",
      {
        nodes: [
          node("a", { typeId: "core.subWorkflow", config: { workflowId: "c", outputMapping: names(1001) } }),
          node("b"),
        ],
      },
      /config of node "a"/,
    ],
    [
      "an expression that does not parse",
      { edges: [edge({ condition: { type: "expression", expression: "a +" } })] },
      /does not parse/,
    ],
    [
      "an expression with matches()",
      { edges: [edge({ condition: { type: "expression", expression: 'a.matches("x")' } })] },
      /regex/,
    ],
    [
      "a pattern that could run for ever",
      { edges: [edge({ condition: { type: "regex", left: "a", right: "(a)\\1" } })] },
      /RE2/,
    ],
    [
      "a condition without its operand",
      { edges: [edge({ condition: { type: "equals", left: "a" } })] },
      /right operand/,
    ],
    [
      "a truthy condition with two operands",
      { edges: [edge({ condition: { type: "truthy", left: "a", right: 1 } })] },
      /no right operand/,
    ],
    ["a configurableSchema that is none", { configurableSchema: { type: "nonsense" } }, /configurableSchema/],
    [
      "a configurableSchema that refers outside",
      { configurableSchema: { $ref: "https://example.com/x.json" } },
      /configurableSchema/,
    ],
    ["a reducer of a vendor", { channels: { c: { reducer: "vendor.acme.fold" } } }, /built-in reducers/],
    [
      "two variables of one name",
      {
        variables: [
          { name: "x", type: "string" },
          { name: "x", type: "string" },
        ],
      },
      /two variables/,
    ],
    [
      "an agent channel",
      { nodes: [node("a", { agent: { agentId: "abc", channel: "stable" } }), node("b")] },
      /agents.deployment/,
    ],
  ])("is refused for %s", (_, change, message) => {
    const error = refusal(change);
    expect(error.code).toBe("validation_error");
    expect(error.message).toMatch(message);
  });

  test.each([
    ["an agent", { agent: { agentId: "acme.helper" } }, "agents.manifestRuntime.supported"],
    ["a memory action", { typeId: "core.identity", config: { memoryAction: "write-then-read" } }, "memory.supported"],
  ])("whose node asks for %s is refused rather than run without it", (_, more, requiredCapability) => {
    expect(refusal({ nodes: [node("a", more), node("b")] })).toMatchObject({
      code: "capability_required",
      details: { nodeId: "a", requiredCapability },
    });
  });

  test.each([
    ["core.conversationGate", "conversationPrimitive"],
    ["conformance.secret.echo", "secrets.supported"],
    ["core.conformance.mock-agent", "conformance.mockAgent"],
    ["acme.unheard.of", "node type acme.unheard.of"],
  ])("that uses %s is refused with the capability it lacks", (typeId, requiredCapability) => {
    expect(refusal({ nodes: [node("a", { typeId }), node("b")] })).toMatchObject({
      code: "capability_required",
      details: { nodeId: "a", offendingTypeId: typeId, requiredCapability },
    });
  });
});

function refusalOf(definition: WorkflowDefinition, types = NODE_TYPES): AppError {
  try {
    checkWorkflow(types, definition);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error("accepted");
}

const leader = { agent: { agentId: "test.leader" } };

describe("a workflow with a supervisor", () => {
  test("is accepted with a plan, whoever the plan is said to be of", () => {
    expect(checkWorkflow(NODE_TYPES, orchestrated({ plan: [next("one"), DONE] }))).toBeDefined();
    expect(checkWorkflow(NODE_TYPES, orchestrated({ plan: [DONE], boss: leader }))).toBeDefined();
    expect(
      checkWorkflow(NODE_TYPES, orchestrated({ boss: { config: { mockDecisions: [DONE] }, ...leader } })),
    ).toBeDefined();
  });

  test.each([
    [SUPERVISOR, "orchestrator.supported", "boss"],
    [DISPATCH, "dispatch.supported", "do"],
  ])("is refused by a host that does not serve %s, by name", (offendingTypeId, requiredCapability, nodeId) => {
    const types = servedTypes(NODE_TYPES.values(), new Set());
    const only = { ...orchestrated({ plan: [DONE] }), edges: [] };
    const definition = { ...only, nodes: only.nodes.filter(({ id }) => id === nodeId) };
    expect(refusalOf(definition, types)).toMatchObject({
      code: "capability_required",
      details: { nodeId, offendingTypeId, requiredCapability },
    });
  });

  test("is refused where an agent would decide and this host serves none", () => {
    const boss = { ...leader, config: { workers: [{ workflowId: "one" }] } };
    expect(refusalOf(orchestrated({ boss }))).toMatchObject({
      code: "capability_required",
      details: { nodeId: "boss", requiredCapability: "agents.manifestRuntime.supported" },
    });
    const named = { config: { agentId: "test.leader", ...boss.config } };
    expect(refusalOf(orchestrated({ boss: named })).code).toBe("capability_required");
  });

  test("is refused where it names two agents", () => {
    const twice = (agentId: string) => orchestrated({ plan: [DONE], boss: { ...leader, config: { agentId } } });
    expect(refusalOf(twice("test.another")).message).toMatch(/names two agents at "boss"/);
    expect(checkWorkflow(NODE_TYPES, twice("test.leader"))).toBeDefined();
  });

  test("is refused where an agent could decide on any workflow", () => {
    const supervisor = { ...NODE_TYPES.get(SUPERVISOR), onlyNamesAgent: () => true } as never;
    const types = new Map([...NODE_TYPES, [SUPERVISOR, supervisor]]);
    expect(refusalOf(orchestrated({ boss: leader }), types).message).toMatch(/list them in config.workers/);
    const named = { config: { agentId: "test.leader" } };
    expect(refusalOf(orchestrated({ boss: named }), types).message).toMatch(/list them in config.workers/);
  });

  const two = { plan: [DONE], nodes: { deputy: { typeId: SUPERVISOR } } };
  test.each<[string, WorkflowDefinition, RegExp]>([
    ["a second supervisor", orchestrated(two), /two supervisors, "boss" and "deputy"/],
    ["a dispatch without one", workflow({ nodes: { do: DISPATCH } }), /no supervisor before its dispatch "do"/],
    [
      "a dispatch that does not come after it",
      workflow({ nodes: { do: DISPATCH, boss: SUPERVISOR }, edges: ["do>boss"] }),
      /no supervisor before its dispatch "do"/,
    ],
    ["a key that dispatches do not have", orchestrated({ plan: [DONE], dispatch: { workers: [] } }), /workers/],
    [
      "a way to ask that this host does not have",
      orchestrated({ plan: [DONE], dispatch: { askUserRouting: "conversation" } }),
      /conversationPrimitive/,
    ],
    ["a cap of nothing", orchestrated({ plan: [DONE], dispatch: { iterationCap: 0 } }), /iterationCap/],
    ["a plan of something else", orchestrated({ boss: { config: { mockDispatchPlan: [{ kind: "run" }] } } }), /boss/],
    [
      "a plan with a worker that is none",
      orchestrated({ plan: [next("two")], boss: { config: { workers: [{ workflowId: "one" }] } } }),
      /"two", which is none of its workers/,
    ],
  ])("is refused with %s", (_, definition, message) => {
    const error = refusalOf(definition);
    expect(error.code).toBe("validation_error");
    expect(error.message).toMatch(message);
  });
});
