import { createHash } from "node:crypto";
import { canonicalJson } from "../formats/canonical-json.ts";
import type { WorkflowDefinition } from "../protocol/workflow.ts";
import type { Store, StoredWorkflow } from "../store/store.ts";
import { makePlan, type Plan } from "./decide/plan.ts";
import { sharedReads } from "./shared-reads.ts";

/** Plans by content hash, made once and kept while they are used. Definitions never change, so nothing goes stale. */
export interface Plans {
  /** What a run of this id would be started with now. */
  current(tenant: string, workflowId: string): Promise<Plan | undefined>;
  /** The plan a run was started with. */
  byHash(hash: string): Promise<Plan>;
  of(workflow: StoredWorkflow): Plan;
}

const KEPT = 500;

export function plansOf(store: Store): Plans {
  const kept = new Map<string, Plan>();
  const keep = (plan: Plan): Plan => {
    kept.delete(plan.hash);
    kept.set(plan.hash, plan);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value ?? "");
    return plan;
  };
  const of = (workflow: StoredWorkflow): Plan => {
    const held = kept.get(workflow.hash);
    // Moved to the end, so that the one dropped is the one not asked for longest.
    return keep(held ?? makePlan(workflow.hash, JSON.parse(workflow.definition) as WorkflowDefinition));
  };
  const read = sharedReads((tenant: string, workflowId: string) => store.readWorkflow(tenant, workflowId));
  return {
    of,
    async current(tenant, workflowId) {
      const workflow = await read(tenant, workflowId);
      return workflow && of(workflow);
    },
    async byHash(hash) {
      const held = kept.get(hash);
      if (held) return keep(held);
      const workflow = await store.readWorkflowByHash(hash);
      if (!workflow) throw new Error(`no workflow definition with hash ${hash}`);
      return of(workflow);
    },
  };
}

/** Two texts of the same value are one definition. */
export function definitionHash(definition: unknown): string {
  return createHash("sha256").update(canonicalJson(definition)).digest("hex");
}
