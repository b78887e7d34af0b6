import { type AgentFacts, namedAgent } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { perObject } from "../../protocol/per-object.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Store } from "../../store/port/store.ts";
import { visibleRun } from "../execute.ts";
import type { Host } from "../host.ts";

/** The members of a run that are recorded with judgments. Only the agents may change, until the run has ended. */
export type RunIdentity = Pick<Run, "runId" | "workflowId" | "workflowHash" | "owner"> & AgentFacts;

export function identityOf(run: Run): RunIdentity {
  const { runId, workflowId, workflowHash, owner, agent } = run;
  const agentId = namedAgent(run);
  return defined({
    runId,
    workflowId,
    workflowHash,
    owner,
    metadata: agentId === undefined ? undefined : { agentId },
    agent,
  });
}

/** Cached identities; at one more the cache is cleared. */
const CACHED_MAX = 10_000;

const cacheOf = perObject((_store: Store) => new Map<string, RunIdentity>());

/**
 * The identity of a run, cached: most runs are judged more than once, and reading one costs as much as recording a judgment. Only ended runs
 * are cached, because others may still call an agent. The cache may have deleted runs; commits for them are refused. Throws like `visibleRun`.
 */
export async function runIdentity(host: Host, visible: Visibility, runId: string): Promise<RunIdentity> {
  const cache = cacheOf(host.store);
  const known = cache.get(runId);
  if (known !== undefined && isVisible(known, visible)) return known;
  const run = await visibleRun(host, visible, runId);
  const identity = identityOf(run);
  if (!isTerminal(run.status)) return identity;
  if (cache.size >= CACHED_MAX) cache.clear();
  cache.set(runId, identity);
  return identity;
}

function isVisible({ owner }: RunIdentity, { tenant, workspace }: Visibility): boolean {
  return owner.tenant === tenant && (workspace === undefined || owner.workspace === workspace);
}
