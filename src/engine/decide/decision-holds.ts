import type { Interrupt } from "../../protocol/interrupt.ts";
import type { WorkflowNode } from "../../protocol/workflow.ts";

/** Outcomes of a gate that was not passed. */
const NOT_PASSED: ReadonlySet<string | undefined> = new Set(["rejected", "refined", "timeout"]);

export function letsNothingThrough({ outcome }: Pick<Interrupt, "outcome">): boolean {
  return NOT_PASSED.has(outcome);
}

/** Whether a decision may be kept in a branch. An event from outside decides nothing, and is kept where the same one is waited for. */
export function mayHold({ config }: Pick<WorkflowNode, "config">, { kind }: Pick<Interrupt, "kind">): boolean {
  return config["approvalHoldsForBranches"] === true || kind === "external-event";
}
