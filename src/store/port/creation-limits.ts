import type { RunStatus } from "../../protocol/runs/run-status.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { CreationLimits, Refusal } from "./store.ts";

/** The part of a run write that counts: its status before and after, and the root it is started below. */
export interface CountedWrite {
  /** Undefined for a run that is created. */
  readonly before: RunStatus | undefined;
  readonly after: RunStatus;
  readonly rootRunId: string | null;
}

/** The changes of the counts of a tenant and of root runs by the run writes of one unit. */
export interface CountChanges {
  /** Runs that begin minus runs that end. */
  readonly active: number;
  /** Whether the unit creates a run. */
  readonly creates: boolean;
  readonly descendants: ReadonlyMap<string, number>;
}

export function countChanges(writes: readonly CountedWrite[]): CountChanges {
  let active = 0;
  let creates = false;
  const descendants = new Map<string, number>();
  for (const { before, after, rootRunId } of writes) {
    active += isActive(after) - isActive(before);
    if (before !== undefined) continue;
    creates ||= !isTerminal(after);
    if (rootRunId !== null) descendants.set(rootRunId, (descendants.get(rootRunId) ?? 0) + 1);
  }
  return { active, creates, descendants };
}

function isActive(status: RunStatus | undefined): 0 | 1 {
  return status === undefined || isTerminal(status) ? 0 : 1;
}

export interface Family {
  readonly descendants: number;
  readonly cancelled_at: number | null;
}

/** The refusal of a unit that goes beyond its limits. A cancelled family is refused whatever the limits are. */
export function refusalToCreate(
  { active, creates, descendants }: CountChanges,
  limits: CreationLimits | undefined,
  activeNow: () => number,
  familyOf: (rootRunId: string) => Family | undefined,
): Refusal | undefined {
  for (const [rootRunId, added] of descendants) {
    const family = familyOf(rootRunId);
    const cancelled = (family?.cancelled_at ?? null) !== null;
    const limit = limits?.descendants ?? Number.MAX_SAFE_INTEGER;
    const left = cancelled ? 0 : Math.max(0, limit - (family?.descendants ?? 0));
    if (added > left) return { type: "family-limit", rootRunId, limit, left, cancelled };
  }
  if (limits === undefined || !creates || active <= 0) return undefined;
  const left = Math.max(0, limits.activeRuns - activeNow());
  return active > left ? { type: "tenant-limit", limit: limits.activeRuns, left } : undefined;
}
