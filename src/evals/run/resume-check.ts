import type { Host } from "../../engine/host.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { readSuite } from "../suite/suite-store.ts";
import type { EvalPlan } from "./eval-plan.ts";
import type { EvalRun, EvalServices } from "./eval-run.ts";
import { isSameJudge } from "./usable-judge.ts";

export interface Changed {
  readonly code: "eval_suite_changed" | "eval_agent_changed" | "agent_not_configured" | "eval_judge_changed";
  readonly message: string;
}

/** The agent and suite of an evaluation if they are unchanged since its start; else the part that changed. */
export async function resumeCheck(
  host: Pick<Host, "store">,
  services: EvalServices,
  owner: Visibility,
  plan: EvalPlan,
): Promise<Pick<EvalRun, "suite" | "agent" | "binding"> | Changed> {
  const ref = `${plan.suiteId}@${plan.suiteVersion}`;
  const { suite, info } = await readSuite(host, owner.tenant, ref);
  if (info.sha256 !== plan.suiteSha256) {
    return { code: "eval_suite_changed", message: `Suite ${ref} is not the one the evaluation was started with.` };
  }
  const versions = await services.agents.versionsOf(owner, plan.agentId);
  const agent = versions.find(({ version }) => version === plan.resolvedAgentVersion);
  if (agent === undefined || agent.contentHash !== plan.agentHash) {
    const message = `Agent ${plan.agentId}@${plan.resolvedAgentVersion} is not installed as it was when the evaluation was started.`;
    return { code: "eval_agent_changed", message };
  }
  const binding = services.agents.bindingFor(agent, undefined, owner.tenant);
  if (binding === undefined) {
    const message = `This host does not know how to call ${plan.agentId} for tenant ${owner.tenant}; bind it in the agents file.`;
    return { code: "agent_not_configured", message };
  }
  if (!isSameJudge(plan, services)) {
    return { code: "eval_judge_changed", message: "The judge is not the one the evaluation was started with." };
  }
  return { suite, agent, binding };
}
