import type { Run } from "../protocol/run.ts";
import type { WorkflowNode } from "../protocol/workflow.ts";
import type { Plan } from "./decide/plan.ts";
import { resolveInputs } from "./decide/resolve-inputs.ts";
import { outcomeOf, versionSource } from "./node-call.ts";
import { type NodeOutcome, type NodeTypes, typeOf } from "./node-type.ts";
import { interruptsOf } from "./suspension.ts";

/**
 * The outcome of a node that would begin now, without what it asked and dispatched before: what it would ask, or the
 * run it would dispatch. Undefined for nodes that cannot be computed alone: with effects, unknown, or without an input.
 */
export function nodeInBranch(types: NodeTypes, plan: Plan, run: Run, node: WorkflowNode): NodeOutcome | undefined {
  const type = typeOf(types, node);
  if (type?.kind !== "pure") return undefined;
  const fresh: Run = { ...run, interrupts: {}, children: {} };
  const resolved = resolveInputs(plan, fresh, node);
  if ("error" in resolved) return undefined;
  return outcomeOf(() =>
    type.execute({
      node,
      config: node.config,
      inputs: resolved.inputs,
      run: fresh,
      channels: plan.definition.channels ?? {},
      attempt: 0,
      slept: false,
      signal: AbortSignal.abort(),
      getVersion: versionSource(fresh, node.id, []),
      ...interruptsOf(fresh, node.id),
    }),
  );
}
