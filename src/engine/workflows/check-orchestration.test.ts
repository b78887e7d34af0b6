import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { DISPATCH, SUPERVISOR } from "../../protocol/runs/orchestrator.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import { DONE, next, orchestrated } from "../../testing/orchestration.ts";
import { workflow } from "../../testing/workflow.ts";
import { NODE_TYPES, servedTypes } from "../nodes/all.ts";
import { checkWorkflow } from "./check-workflow.ts";

function refusal(definition: WorkflowDefinition, types = NODE_TYPES): AppError {
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
    expect(refusal(definition, types)).toMatchObject({
      code: "capability_required",
      details: { nodeId, offendingTypeId, requiredCapability },
    });
  });

  test("is refused where an agent would decide and this host serves none", () => {
    const boss = { ...leader, config: { workers: [{ workflowId: "one" }] } };
    expect(refusal(orchestrated({ boss }))).toMatchObject({
      code: "capability_required",
      details: { nodeId: "boss", requiredCapability: "agents.manifestRuntime.supported" },
    });
    const named = { config: { agentId: "test.leader", ...boss.config } };
    expect(refusal(orchestrated({ boss: named })).code).toBe("capability_required");
  });

  test("is refused where it names two agents", () => {
    const twice = (agentId: string) => orchestrated({ plan: [DONE], boss: { ...leader, config: { agentId } } });
    expect(refusal(twice("test.another")).message).toMatch(/names two agents at "boss"/);
    expect(checkWorkflow(NODE_TYPES, twice("test.leader"))).toBeDefined();
  });

  test("is refused where an agent could decide on any workflow", () => {
    const supervisor = { ...NODE_TYPES.get(SUPERVISOR), onlyNamesAgent: () => true } as never;
    const types = new Map([...NODE_TYPES, [SUPERVISOR, supervisor]]);
    expect(refusal(orchestrated({ boss: leader }), types).message).toMatch(/list them in config.workers/);
    const named = { config: { agentId: "test.leader" } };
    expect(refusal(orchestrated({ boss: named }), types).message).toMatch(/list them in config.workers/);
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
    const error = refusal(definition);
    expect(error.code).toBe("validation_error");
    expect(error.message).toMatch(message);
  });
});
