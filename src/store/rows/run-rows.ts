import { agentsOf } from "../../protocol/agents/agent-of.ts";
import { wasDecidedByPerson } from "../../protocol/gates/interrupt.ts";
import { wakeAtMs } from "../../protocol/runs/due-times.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { RunWrite } from "../port/store.ts";
import type { RunsTable } from "../schema/runs.ts";
import { agentColumn } from "./annotation-rows.ts";

/** The row of a run as a write leaves it. Lease and dedup scope are those of a run that is new. */
export function runRow(tenant: string, { run, lease = "release", dedupScope = null }: NewRun): RunsTable {
  const held = lease === "release" ? undefined : lease;
  return {
    run_id: run.runId,
    tenant,
    workspace: run.owner.workspace ?? null,
    workflow_id: run.workflowId,
    workflow_hash: run.workflowHash,
    status: run.status,
    version: run.version,
    engine_version: run.engineVersion,
    state: JSON.stringify(run),
    created_at: Date.parse(run.startedAt),
    updated_at: lastChangeMs(run),
    dedup_scope: isTerminal(run.status) ? null : dedupScope,
    wake_at: wakeAtMs(run) ?? null,
    lease_owner: held?.owner ?? null,
    lease_until: held?.untilMs ?? null,
    ...runFacts(run),
    root_run_id: run.parent?.rootRunId ?? null,
  };
}

type NewRun = Pick<RunWrite, "run" | "lease"> & { readonly dedupScope?: string | null };

/**
 * When a run last changed, which is when it ended once it has. A fork at the end of its source has nothing but the events of the source,
 * with their times: it ended when it was made, and queues would never find it under an earlier time.
 */
function lastChangeMs({ status, updatedAt, forkedFrom }: Run): number {
  const changedMs = Date.parse(updatedAt);
  return isTerminal(status) && forkedFrom !== undefined ? Math.max(changedMs, Date.parse(forkedFrom.at)) : changedMs;
}

/** The columns by which runs are grouped and counted. They follow from the state and are stored with it. */
export function runFacts(
  run: Pick<Run, "metadata" | "agent" | "interrupts">,
): Pick<RunsTable, "agent_id" | "intervened"> {
  return { agent_id: agentColumn(agentsOf(run)), intervened: hasIntervention(run) ? 1 : 0 };
}

/** A decision in the run that this one was forked from counts there, and only there. */
function hasIntervention({ interrupts }: Pick<Run, "interrupts">): boolean {
  for (const interruptId in interrupts) {
    const interrupt = interrupts[interruptId];
    if (interrupt !== undefined && !interrupt.inherited && wasDecidedByPerson(interrupt)) return true;
  }
  return false;
}
