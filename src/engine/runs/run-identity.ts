import { type AgentFacts, namedAgent } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Store } from "../../store/port/store.ts";
import { visibleRun } from "../execute.ts";
import type { Host } from "../host.ts";

/** The parts of a run that judgments are recorded with. Only the agents may change, and only until the run has ended. */
export type RunIdentity = Pick<Run, "runId" | "workflowId" | "workflowHash" | "owner"> & AgentFacts;

export function identityOf(run: Run): RunIdentity {
  const { runId, workflowId, workflowHash, owner, agent } = run;
  const agentId = namedAgent(run);
  return {
    runId,
    workflowId,
    workflowHash,
    owner,
    ...(agentId === undefined ? {} : { metadata: { agentId } }),
    ...defined({ agent }),
  };
}

/** Runs that are remembered; one more, and all are looked up anew. */
const REMEMBERED_MAX = 10_000;

const REMEMBERED = new WeakMap<Store, Map<string, RunIdentity>>();

/**
 * For those who only write beside a run: most runs are judged more than once, and looking one up costs as much as
 * recording a judgment. Only runs that have ended are remembered: others may still call an agent. One that was deleted may
 * still be remembered; the commit of whatever is written for it is refused.
 * Throws like `visibleRun`.
 */
export async function runIdentity(host: Host, visible: Visibility, runId: string): Promise<RunIdentity> {
  const remembered = rememberedIn(host.store);
  const known = remembered.get(runId);
  if (known !== undefined && isVisible(known, visible)) return known;
  const run = await visibleRun(host, visible, runId);
  const identity = identityOf(run);
  if (!isTerminal(run.status)) return identity;
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(runId, identity);
  return identity;
}

function isVisible({ owner }: RunIdentity, { tenant, workspace }: Visibility): boolean {
  return owner.tenant === tenant && (workspace === undefined || owner.workspace === workspace);
}

function rememberedIn(store: Store): Map<string, RunIdentity> {
  const found = REMEMBERED.get(store) ?? new Map<string, RunIdentity>();
  REMEMBERED.set(store, found);
  return found;
}
