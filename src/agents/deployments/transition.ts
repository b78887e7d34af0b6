import { auditDraft, type Recorder } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { AgentDeployment, Condition, DeploymentTransition } from "../../protocol/promotion/api.ts";
import { type Evidence, problemIn } from "../../protocol/promotion/evidence.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Agents, InstalledAgent } from "../agents.ts";
import { gateIdOf } from "./approval.ts";
import { asking } from "./ask-people.ts";
import { askersOf } from "./askers.ts";
import { decideTransition } from "./decide-transition.ts";
import { recordOf, stateOf } from "./deployments.ts";
import type { EvidenceReader } from "./evidence.ts";
import { type Considered, commit, ManagementRun, targetOf, type Wanted } from "./management-run.ts";
import { managementPlan, planWrite } from "./management-workflow.ts";
import { ruleFor } from "./policies.ts";
import { type RecentRefusals, recordRefusal } from "./record-refusal.ts";
import { deploymentsWrite, readDeployments } from "./stored-deployments.ts";
import type { Decided } from "./transition-rules.ts";

export interface Transition {
  readonly caller: Caller;
  readonly agentId: string;
  readonly request: DeploymentTransition;
  readonly record: Recorder<AgentDeployment>;
}

export interface Applied {
  readonly deployment: AgentDeployment;
  /** The run that records the transition. */
  readonly runId: string;
}

const ATTEMPTS = 10;

/**
 * Checks permission, the legal moves, the approval and the evaluation, in this order; each must hold. The result is one commit,
 * decided at the revision that was read; a concurrent commit makes it decide anew.
 */
export async function transition(host: Host, services: DeploymentServices, command: Transition): Promise<Applied> {
  const wanted = await authorised(host, services, command);
  const agent = await installed(services, command);
  for (let attempts = 0; attempts < ATTEMPTS; attempts++) {
    const done = await attempt(host, services, command, wanted, agent);
    if (done !== "moved") return done;
  }
  throw new AppError("document_conflict", { what: "deployment", key: command.agentId });
}

const SCOPES: Readonly<Record<DeploymentTransition["transition"], string>> = {
  promote: "deploy:promote",
  "adjust-canary": "deploy:promote",
  rollback: "deploy:rollback",
  pause: "deploy:pause",
  deprecate: "deploy:pause",
};

async function authorised(host: Host, services: DeploymentServices, command: Transition): Promise<Wanted> {
  const { caller, agentId, request } = command;
  const { evalRunId = "" } = request;
  // The id is looked up as it is and shown to approvers, also where it is refused.
  if (host.scrubber.scrubText(evalRunId) !== evalRunId) {
    throw validationError("evalRunId looks like a secret; name an evaluation");
  }
  const scope = SCOPES[request.transition];
  const decision = await services.decide(caller, scope);
  const wanted: Wanted = { caller, agentId, request, scope };
  if (decision.allowed) return wanted;
  const { missingFrom } = decision;
  const found = `${missingFrom} does not grant it`;
  const conditions = [{ condition: "authorisation", wanted: `scope ${scope}`, found, met: false }];
  const error = new AppError("forbidden", { scopeRequired: scope, missingFrom, conditions });
  throw await recordRefusal(host, services.refusals, { ...wanted, denied: `${scope}: ${found}` }, error);
}

async function installed({ agents }: DeploymentServices, { caller, agentId, request }: Transition) {
  const versions = await agents.versionsOf(caller, agentId, { version: request.version });
  const agent = versions.find(({ version }) => version === request.version);
  if (agent !== undefined) return agent;
  const [other] = await agents.versionsOf(caller, agentId, { highest: true });
  if (other === undefined) throw new AppError("not_found", { what: "agent", agentId });
  throw new AppError("not_found", { what: `version ${request.version} of the agent`, agentId });
}

async function attempt(
  host: Host,
  services: DeploymentServices,
  command: Transition,
  wanted: Wanted,
  agent: InstalledAgent,
): Promise<Applied | "moved"> {
  const { tenant, workspace } = wanted.caller;
  const place = { tenant, ...defined({ workspace }) };
  const stored = await readDeployments(host.store, place, wanted.agentId, services.agents);
  const { rule, stands: ruleStands } = await ruleFor(host, place, wanted.agentId, wanted.request);
  const allowed = { condition: "authorisation", wanted: `scope ${wanted.scope}`, found: "granted", met: true };
  const considered = legal({ host, wanted, agent, place, stored, rule, ruleStands, conditions: [allowed] });
  const evidence = await evidenceFor(services, considered);
  const { conditions: proven } = evidence;
  const gated = rule.gate === undefined ? undefined : await asking(considered, rule.gate, proven, services.refusals);
  if (gated === "moved") return "moved";
  const conditions = [...considered.conditions, ...(gated === undefined ? [] : [gated.condition]), ...proven];
  if (proven.some(({ met }) => !met)) {
    throw await recordRefusal(host, services.refusals, wanted, unproven(conditions), gated?.run.runId);
  }
  return apply({ ...considered, conditions }, gated?.run, evidence, command.record);
}

function legal(considered: Considered): Considered {
  const { wanted, agent, stored, conditions } = considered;
  const { request } = wanted;
  const to = request.toState === undefined ? "" : ` to ${request.toState}`;
  const move = { condition: "transition", wanted: `${request.transition}${to}` };
  try {
    decideTransition(stored.now, request, { agentHash: agent.contentHash });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "validation_error") throw error;
    const found = String(error.details["problem"]);
    throw validationError(found, { ...error.details, conditions: [...conditions, { ...move, found, met: false }] });
  }
  const found = `possible from ${stateOf(stored.now, request.version)}`;
  return { ...considered, conditions: [...conditions, { ...move, found, met: true }] };
}

/** A named evaluation must be valid evidence, whether or not the policy requires one. */
async function evidenceFor({ evidence }: DeploymentServices, considered: Considered): Promise<Evidence> {
  const { wanted, agent, place: visible, rule } = considered;
  const { evalRunId } = wanted.request;
  const { requiredEval: required } = rule;
  if (required === undefined && evalRunId === undefined) return { conditions: [], preconditions: [] };
  return evidence.read({
    visible,
    agent,
    askedBy: await askersOf(considered),
    independentPeople: rule.gate?.requireIndependentVoters === true,
    ...defined({ evalRunId, required }),
  });
}

function unproven(conditions: readonly Condition[]): AppError {
  return new AppError("eval_gate_unmet", { problem: problemIn(conditions), conditions });
}

async function apply(
  considered: Considered,
  gated: Run | undefined,
  { preconditions }: Evidence,
  record: Transition["record"],
): Promise<Applied | "moved"> {
  const { host, wanted, place, stored, agent, rule, ruleStands } = considered;
  const { caller, request } = wanted;
  const evalRunId = rule.requiredEval?.evalRunId ?? request.evalRunId;
  const decided = decideTransition(stored.now, request, {
    agentHash: agent.contentHash,
    ...defined({ evalRunId }),
    ...(gated === undefined ? {} : { approvalGateId: gateIdOf(gated.runId) }),
  });
  const plan = gated === undefined ? managementPlan() : await host.plans.byHash(gated.workflowHash);
  const management =
    gated === undefined
      ? ManagementRun.begin(host, plan, host.newId("run"), wanted)
      : ManagementRun.resume(host, plan, gated, wanted);
  const next = { ...decided.next, asked: stored.now.asked.filter(({ runId }) => runId !== management.runId) };
  const deployment = recordOf(next, request.version);
  management.complete(decided.events, { deployment });
  const atMs = host.nowMs();
  const outcome = record(deployment);
  const committed = await commit(host, {
    tenant: caller.tenant,
    runs: [management.write()],
    ...(gated === undefined ? { workflows: [planWrite(plan, caller.tenant, atMs)] } : {}),
    documents: [deploymentsWrite(place, next, stored, atMs), ruleStands],
    audit: [auditDraft(caller, atMs, targetOf(wanted), noteOf(considered, decided, management.runId))],
    ...defined({ idempotency: outcome }),
    ...(preconditions.length === 0 ? {} : { preconditions }),
  });
  return committed === "moved" ? "moved" : { deployment, runId: management.runId };
}

function noteOf({ host, wanted, conditions }: Considered, { events, from, to, other }: Decided, runId: string) {
  const { reason, ...request } = wanted.request;
  return {
    action: events[0]?.type ?? "deployment.promoted",
    details: {
      ...request,
      runId,
      fromState: from,
      toState: to,
      ...defined({ other }),
      ...(reason === undefined ? {} : { reason: host.scrubber.scrubText(reason) }),
      conditions,
    },
  };
}

/** Services for deployments from the process they run in. */
export interface DeploymentServices {
  readonly agents: Pick<Agents, "versionsOf" | "fixedDeployments">;
  readonly evidence: EvidenceReader;
  /** Whether the key and a role of the caller grant a scope. */
  readonly decide: Authorizer["decide"];
  readonly refusals: RecentRefusals;
}
