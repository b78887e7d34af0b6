import type { RunEvent } from "./events.ts";
import { startOver } from "./evolve-nodes.ts";
import type { Interrupt } from "./interrupt.ts";
import { isSettled } from "./node-state.ts";
import { own } from "./own.ts";
import type { Child, Run } from "./run.ts";
import { isTerminal } from "./run-status.ts";

/** A branch of a branch differs in what either changed. */
function changedWith({ branchChanges: before = [] }: Run, changes: readonly string[] = []): Pick<Run, "branchChanges"> {
  return before.length + changes.length === 0 ? {} : { branchChanges: [...new Set([...before, ...changes])] };
}

/**
 * The copied history ends here. What was under way belongs to the source: its nodes start over, and ask and dispatch
 * anew; nobody's pause or cancellation of the source is one of the branch. Decisions that do not hold for the branch stay
 * in sight as what was decided before.
 */
export function branched(run: Run, event: Extract<RunEvent, { type: "assay.branch.began" }>): Run {
  const payload = event.sealed ?? event.payload;
  const { nodeIds, reopens, changes, inputs, configurable, tags, metadata, limits, sensitiveInputs = [] } = payload;
  const { pause: _, pausedAt: __, cancel: ___, ...rest } = run;
  const again = new Set(nodeIds);
  const asked = new Set(nodeIds.flatMap((id) => own(run.nodes, id)?.interruptId ?? []));
  const isOver = ([, child]: [string, Child]) =>
    isTerminal(child.status) && !(again.has(child.nodeId) && child.visit === (own(run.visits, child.nodeId) ?? 0));
  const isVoid = ({ nodeId }: Interrupt) => reopens !== undefined && again.has(nodeId);
  const interrupts = Object.entries(run.interrupts)
    .filter(([id, one]) => one.status !== "open" && (!asked.has(id) || isSettled(own(run.nodes, one.nodeId))))
    .map(([id, one]) => [id, isVoid(one) ? { ...one, reopened: changes ?? [] } : one] as const);
  return {
    ...rest,
    ...startOver(run, nodeIds),
    status: run.status === "pending" ? "pending" : "running",
    interrupts: Object.fromEntries(interrupts),
    children: Object.fromEntries(Object.entries(run.children).filter(isOver)),
    variables: { ...run.variables, ...inputs },
    ...(configurable === undefined ? {} : { configurable: { ...run.configurable, ...configurable } }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata: { ...run.metadata, ...metadata } }),
    ...(limits === undefined ? {} : { limits }),
    ...(sensitiveInputs.length === 0
      ? {}
      : { sensitive: [...new Set([...(run.sensitive ?? []), ...sensitiveInputs])] }),
    ...changedWith(run, changes),
  };
}
