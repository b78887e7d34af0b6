import { expect, test } from "vitest";
import { SUPERVISOR } from "../../protocol/runs/orchestrator.ts";
import { workflow } from "../../testing/workflow.ts";
import { supervisor } from "../nodes/supervisor.ts";
import { PlanFacts } from "./plan-facts.ts";

test("a supervisor asks a person where it is not sure, also without a dispatch behind it", async () => {
  const host = { nodeTypes: new Map([[SUPERVISOR, supervisor()]]), plans: { current: async () => undefined } };
  const { nodes } = workflow({ nodes: { decide: SUPERVISOR } });
  expect(await new PlanFacts(host, "t1").asks(nodes)).toBe(true);
});
