import type { Run } from "../../protocol/runs/run.ts";
import type { RunStatus } from "../../protocol/runs/run-status.ts";

export interface WorkQueue {
  /**
   * Leases up to `limit` runs that are due (`wakeAt <= now`) and whose lease is free or over, oldest due first.
   * Two claimers never get the same run. Runs of a newer engine are left for a newer host.
   */
  claimRuns(claim: Claim): Promise<Run[]>;
  /** Tenants that have a run to claim, in order; `limit` of those after `after`. */
  dueTenants(query: DueTenants): Promise<string[]>;
  /** Due runs that no worker holds and whose state has more than so many bytes, without reading it. */
  dueBeyond(query: DueBeyond): Promise<{ readonly runId: string; readonly tenant: string }[]>;
  /** The newest time that a run in the queue was written at; undefined when none is in it. */
  newestQueuedMs(): Promise<number | undefined>;
  /** Runs in the queue that were written after a time, in id order; pages by `after`. */
  runsAhead(query: RunsAhead): Promise<{ readonly runId: string; readonly tenant: string }[]>;
  /** Prolongs the leases still held by `owner`; returns the run ids that are. */
  renewLeases(owner: string, runIds: readonly string[], untilMs: number): Promise<string[]>;
  /**
   * The earliest due time of any run without a lease at `nowMs`, or undefined when nothing waits. Runs of a newer
   * engine do not count: the caller could not claim them.
   */
  nextWakeAtMs(nowMs: number, engineVersion: number): Promise<number | undefined>;
}

export interface Claim {
  /** Only runs whose stored state is so large, in bytes; it is known before anything of the state is read. */
  readonly stateBytes?: { readonly above?: number; readonly upTo?: number };
  readonly owner: string;
  readonly nowMs: number;
  readonly untilMs: number;
  readonly limit: number;
  readonly engineVersion: number;
  /** Only runs of these tenants, and at most `share` of each; then `limit` does not count. */
  readonly among?: { readonly tenants: readonly string[]; readonly share: number };
}

export interface DueTenants {
  readonly nowMs: number;
  readonly engineVersion: number;
  readonly after: string;
  readonly limit: number;
}

export interface DueBeyond {
  readonly nowMs: number;
  readonly engineVersion: number;
  readonly aboveBytes: number;
  readonly limit: number;
}

export interface RunsAhead {
  readonly ofMs: number;
  readonly after: string;
  readonly limit: number;
}

/** The columns of a run without its state. */
export interface RunOutline {
  readonly runId: string;
  readonly status: RunStatus;
  readonly stateBytes: number;
}
