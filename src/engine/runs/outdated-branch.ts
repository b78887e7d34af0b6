import { AppError } from "../../protocol/errors.ts";
import type { RunOptionsOverlay } from "../../protocol/runs/fork-api.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Plan } from "../workflows/decide/plan.ts";
import { PlanFacts, type PlanFactsHost } from "../workflows/plan-facts.ts";

/**
 * A branch executes the definition of its source. Where the workflow was registered anew since and asks a person now, that would be a
 * way round gates and rules that every new run is held to, so such a branch is refused. One that changes nothing and has no effects
 * lets nothing through.
 *
 * @param run the branch at its fork point
 */
export async function refuseOutdated(
  host: PlanFactsHost,
  plan: Plan,
  run: Run,
  { inputs, configurable }: RunOptionsOverlay,
): Promise<void> {
  const { workflowId, owner, forkedFrom } = run;
  const current = await host.plans.current(owner.tenant, workflowId);
  if (current === undefined || current.hash === plan.hash) return;
  const facts = new PlanFacts(host, owner.tenant);
  if (!(await facts.asks(current.graph.order))) return;
  const changesNothing = inputs === undefined && configurable === undefined;
  if (changesNothing && (await facts.acting(plan)).length === 0) return;
  const problem = `workflow ${workflowId} was registered anew since, and asks a person or waits for an event; start a new run, or replay this one`;
  throw new AppError("fork_point_invalid", {
    problem,
    sourceRunId: forkedFrom?.runId,
    fromSeq: forkedFrom?.fromSeq,
  });
}
