import type { RunError } from "../../protocol/events.ts";
import type { Refusal, Unit } from "../../store/port/store.ts";
import type { Host } from "../host.ts";

/** The limits of this host for a unit that creates runs; none where the host has no limits. */
export function creationLimits({ limits }: Pick<Host, "limits">): Pick<Unit, "creationLimits"> {
  const { maxActiveRuns: activeRuns, maxDescendants: descendants } = limits;
  return activeRuns === undefined || descendants === undefined ? {} : { creationLimits: { activeRuns, descendants } };
}

/** The number of runs that a turn may still start, and the error of further nodes. */
export interface ChildRoom {
  readonly left: number;
  readonly error: RunError;
}

/** The room that a refused unit left for children; undefined for any other refusal. */
export function childRoom(refusal: Refusal): ChildRoom | undefined {
  if (refusal.type === "tenant-limit") {
    const { left, limit } = refusal;
    const message = `The tenant has ${limit} runs that have not ended, and may have no more. Cancel some, or wait.`;
    return { left, error: { code: "tenant_run_limit", message } };
  }
  if (refusal.type !== "family-limit") return undefined;
  const { left, limit, rootRunId, cancelled } = refusal;
  if (cancelled) {
    const message = `Run ${rootRunId} was cancelled with its descendants; no run is started below it any more.`;
    return { left, error: { code: "child_not_started", message } };
  }
  const message = `Run ${rootRunId} may have ${limit} runs below it at most, and has them.`;
  return { left, error: { code: "descendant_limit", message } };
}
