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

/** In characters of their definitions, because a plan may be of one node or of thousands. */
const KEPT = 64_000_000;

export function plansOf(store: Store): Plans {
  const kept = new Map<string, { readonly plan: Plan; readonly size: number }>();
  let size = 0;
  const drop = (hash: string): void => {
    size -= kept.get(hash)?.size ?? 0;
    kept.delete(hash);
  };
  const of = ({ hash, definition }: StoredWorkflow): Plan => {
    const held = heldPlan(hash);
    if (held) return held;
    const plan = makePlan(hash, JSON.parse(definition) as WorkflowDefinition);
    kept.set(hash, { plan, size: definition.length });
    size += definition.length;
    for (const oldest of kept.keys()) {
      if (size <= KEPT || oldest === hash) break;
      drop(oldest);
    }
    return plan;
  };
  const heldPlan = (hash: string): Plan | undefined => {
    const held = kept.get(hash);
    if (held === undefined) return undefined;
    // Moved to the end, so that the one dropped is the one not asked for longest.
    kept.delete(hash);
    kept.set(hash, held);
    return held.plan;
  };
  const read = sharedReads((tenant: string, workflowId: string) => store.readWorkflow(tenant, workflowId));
  return {
    of,
    async current(tenant, workflowId) {
      const workflow = await read(tenant, workflowId);
      return workflow && of(workflow);
    },
    async byHash(hash) {
      const held = heldPlan(hash);
      if (held) return held;
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
