import { auditDraft } from "../../engine/execute.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { AppError } from "../../protocol/errors.ts";
import { own } from "../../protocol/own.ts";
import type { Condition, DeploymentTransition, PolicyGate, PolicyRule } from "../../protocol/promotion/api.ts";
import { startersOf } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { type Approval, approvalCondition, approvalIn, gateIdOf } from "./approval.ts";
import { earlierRequests, forbidsOwn, joinedSiblings, joinRequests, ownApprovalAmong, siblingsOf } from "./askers.ts";
import { decideTransition } from "./decide-transition.ts";
import { channelsOf, type Deployments, recordOf } from "./deployments.ts";
import { type Considered, commit, ManagementRun, targetOf } from "./management-run.ts";
import { managementPlan, planWrite } from "./management-workflow.ts";
import { type RecentRefusals, recordRefusal } from "./record-refusal.ts";
import { deploymentsWrite } from "./stored-deployments.ts";

export interface Gated {
  readonly run: Run;
  readonly condition: Condition;
}

/** Throws unless the approvers have approved exactly this transition. */
export async function asking(
  considered: Considered,
  gate: PolicyGate,
  evidence: readonly Condition[],
  refusals: RecentRefusals,
): Promise<Gated | "moved"> {
  const { host, place, stored, wanted, agent, rule } = considered;
  const digest = digestOf({ now: stored.now, request: wanted.request, agentHash: agent.contentHash, rule });
  const asked = stored.now.asked.find((one) => one.digest === digest);
  const run = asked && (await host.store.readRun(place, asked.runId));
  if (run === undefined) return ask(considered, gate, digest, evidence, refusals);
  const approval = approvalIn(run, host.nowMs(), gate);
  if (approval.state === "refused") return refusedByPeople(considered, gate, run, approval, evidence);
  const others = await siblingsUnder(considered, gate, run.runId);
  const own = ownApprovalAmong(considered, gate, [run, ...others]);
  if (own !== undefined) throw await recordRefusal(host, refusals, considered.wanted, own, run.runId);
  if (approval.state === "granted") return { run, condition: approvalCondition(gate, approval) };
  if (forbidsOwn(gate) && (await joinRequests(considered, [run, ...others])) === "moved") return "moved";
  throw waiting(considered, gate, run, approval, evidence);
}

/** The other requests for the same step, where who asks or applies may have approved none of them. */
async function siblingsUnder(considered: Considered, gate: PolicyGate, runId?: string): Promise<Run[]> {
  return forbidsOwn(gate) ? (await siblingsOf(considered)).filter((run) => run.runId !== runId) : [];
}

async function ask(
  considered: Considered,
  gate: PolicyGate,
  digest: string,
  evidence: readonly Condition[],
  refusals: RecentRefusals,
): Promise<"moved"> {
  const { host, wanted, place, stored, agent } = considered;
  const { caller, agentId, request } = wanted;
  const runId = host.newId("run");
  const { from, to, other } = decideTransition(stored.now, request, { agentHash: agent.contentHash });
  const { reason: _, ...shown } = request;
  const plan = managementPlan({
    gateId: gateIdOf(runId),
    gate,
    title: titleOf(agentId, request),
    artifactId: `${agentId}@${request.version}`,
    artifactData: {
      agentId,
      ...shown,
      fromState: from,
      ...servingNow(stored.now, request.version),
      toState: to,
      ...(other ? { other } : {}),
      evidence,
    },
  });
  const before = await earlierRequests(considered, digest);
  const siblings = await siblingsUnder(considered, gate);
  const own = ownApprovalAmong(considered, gate, siblings);
  if (own !== undefined) throw await recordRefusal(host, refusals, wanted, own, String(own.details?.["runId"]));
  const others = new Set(siblings.flatMap(startersOf).filter((one) => one !== caller.principal));
  const management = ManagementRun.begin(host, plan, runId, wanted, [...others]);
  const atMs = host.nowMs();
  const next = { ...stored.now, asked: [...before, { digest, runId }] };
  const details = { runId, transition: request.transition, fromState: from, toState: to };
  const committed = await commit(host, {
    tenant: caller.tenant,
    runs: [management.write(), ...joinedSiblings(considered, siblings)],
    workflows: [planWrite(plan, caller.tenant, atMs)],
    documents: [deploymentsWrite(place, next, stored, atMs)],
    audit: [auditDraft(caller, atMs, targetOf(wanted), { action: "deployment.requested", details })],
  });
  if (committed === "moved") return "moved";
  throw waiting(considered, gate, management.run, approvalIn(management.run, atMs, gate), evidence);
}

/**
 * Where the version serves at the time of the request, and with which share: a change of the share, a pause and a rollback concern
 * all of that.
 */
function servingNow(now: Deployments, version: string) {
  const { channels, canaryPercent } = recordOf(now, version);
  return channels === undefined ? {} : { fromChannels: [...channels], fromPercent: canaryPercent ?? 100 };
}

function titleOf(
  agentId: string,
  { transition: word, version, toState, channel, canaryPercent }: DeploymentTransition,
) {
  const to = word === "promote" ? ` to ${toState}` : "";
  const where = channel === undefined ? "" : ` on ${channel}`;
  const share = canaryPercent === undefined ? "" : ` with ${canaryPercent} %`;
  return `${word} ${agentId} ${version}${to}${where}${share}`;
}

function waiting(
  { conditions }: Considered,
  gate: PolicyGate,
  run: Run,
  approval: Approval,
  evidence: readonly Condition[],
): AppError {
  const { runId, status: runStatus } = run;
  return new AppError("run_state_conflict", {
    runId,
    runStatus,
    gateId: gateIdOf(runId),
    waiting: true,
    inbox: "/v1/host/assay/inbox",
    resolve: `/v1/runs/${runId}/interrupts/${gateIdOf(runId)}`,
    problem: `people are asked whether this may happen (${approval.found}); send the same request again when they have decided`,
    conditions: [...conditions, approvalCondition(gate, approval), ...evidence],
  });
}

/** A rejection is reported once: the next request asks for a new approval. */
async function refusedByPeople(
  considered: Considered,
  gate: PolicyGate,
  { runId }: Run,
  approval: Approval,
  evidence: readonly Condition[],
): Promise<"moved"> {
  const { host, wanted, place, stored, conditions } = considered;
  const { caller } = wanted;
  const atMs = host.nowMs();
  const next = { ...stored.now, asked: stored.now.asked.filter((one) => one.runId !== runId) };
  const details = { runId, reason: approval.found };
  const committed = await commit(host, {
    tenant: caller.tenant,
    documents: [deploymentsWrite(place, next, stored, atMs)],
    audit: [auditDraft(caller, atMs, targetOf(wanted), { action: "deployment.refused", details })],
  });
  if (committed === "moved") return "moved";
  throw new AppError("forbidden", {
    problem: `the people who were asked did not let it pass: ${approval.found}`,
    runId,
    gateId: gateIdOf(runId),
    conditions: [...conditions, approvalCondition(gate, approval), ...evidence],
  });
}

export interface Question {
  readonly now: Deployments;
  readonly request: DeploymentTransition;
  readonly agentHash: string;
  readonly rule: PolicyRule;
}

/** Another request, another state of things, another policy: another question. What serves elsewhere by then was not asked about. */
export function digestOf({ now, request: { reason: _, ...request }, agentHash, rule }: Question): string {
  const { other, events } = decideTransition(now, request, { agentHash });
  const current = { deployed: own(now.versions, request.version) ?? null, channels: channelsOf(now, request.version) };
  const text = canonicalJson({ request, standing: current, agentHash, other: other ?? null, events, rule });
  return sha256(text);
}
