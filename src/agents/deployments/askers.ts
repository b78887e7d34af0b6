import { auditDraft } from "../../engine/execute.ts";
import { AppError } from "../../protocol/errors.ts";
import { startersOf } from "../../protocol/forked-from.ts";
import { isApproval } from "../../protocol/gate-rules.ts";
import type { PolicyGate } from "../../protocol/promotion-policy.ts";
import type { Run } from "../../protocol/run.ts";
import { isTerminal } from "../../protocol/run-status.ts";
import type { RunWrite } from "../../store/store.ts";
import { approvalCondition, gateIdOf } from "./approval.ts";
import { type Considered, commit, targetOf } from "./considered.ts";
import { joined } from "./management-run.ts";

/** Whether those who ask for a transition, or apply it, may not be among those who approve it. */
export function forbidsOwn({ forbidSelfApproval = true }: PolicyGate): boolean {
  return forbidSelfApproval;
}

/** The refusal of a request by a principal who approved what it asks for; undefined where they did not. */
export function ownApproval({ wanted, conditions }: Considered, gate: PolicyGate, run: Run): AppError | undefined {
  const { principal } = wanted.caller;
  if (!forbidsOwn(gate) || !approversOf(run).has(principal)) return undefined;
  return new AppError("forbidden", {
    problem: `${principal} approved this transition, and nobody may both approve a transition and ask for or apply it; let another principal send the request`,
    runId: run.runId,
    gateId: gateIdOf(run.runId),
    conditions: [
      ...conditions,
      approvalCondition(gate, { state: "refused", found: `approved by ${principal}, who asks` }),
    ],
  });
}

function approversOf({ interrupts }: Run): ReadonlySet<string> {
  const votes = Object.values(interrupts).flatMap((one) => one.votes.filter(isApproval));
  return new Set(votes.flatMap(({ voter, principal }) => [voter, principal]));
}

/** Makes the caller one of those who ask for what a waiting run was made for: from then on they cannot approve it. */
export async function joinRequest(considered: Considered, gate: PolicyGate, run: Run): Promise<"done" | "moved"> {
  const { host, wanted } = considered;
  const { caller, request } = wanted;
  if (!forbidsOwn(gate) || startersOf(run).includes(caller.principal)) return "done";
  const details = { runId: run.runId, transition: request.transition, joined: true };
  return commit(host, {
    tenant: caller.tenant,
    runs: [joined(host, run, caller.principal)],
    audit: [auditDraft(caller, host.nowMs(), targetOf(wanted), { action: "deployment.requested", details })],
  });
}

/** Requests for the same step that differ in the rest (evidence, channel, share) and were asked about apart. */
export async function siblingsOf({ host, wanted, place, stored }: Considered): Promise<Run[]> {
  const runs = await Promise.all(stored.now.asked.map(({ runId }) => host.store.readRun(place, runId)));
  return runs.filter((run): run is Run => run !== undefined && !isTerminal(run.status) && isAbout(run, wanted.request));
}

/** A gate shows where a transition leads also where its request left that out: only promotions have to say it. */
function isAbout({ interrupts }: Run, request: Considered["wanted"]["request"]): boolean {
  return Object.values(interrupts).some(({ data }) => {
    const shown = (data["artifactData"] ?? {}) as Readonly<Record<string, unknown>>;
    const { transition, version, toState = shown["toState"] } = request;
    return shown["transition"] === transition && shown["version"] === version && shown["toState"] === toState;
  });
}

/** The writes that tell the siblings of a new request who else asks for the same. */
export function joinedSiblings({ host, wanted }: Considered, siblings: readonly Run[]): RunWrite[] {
  const { principal } = wanted.caller;
  return siblings.filter((run) => !startersOf(run).includes(principal)).map((run) => joined(host, run, principal));
}

/** Everyone who asks for the transition, the caller among them. Runs are read only where scores of people may count. */
export async function askersOf(considered: Considered): Promise<string[]> {
  const { wanted, rule } = considered;
  const { acceptHumanOverrides = false, requireCertificate = false } = rule.requiredEval ?? {};
  const countsPeople = acceptHumanOverrides || requireCertificate !== false;
  const others = countsPeople ? await siblingsOf(considered) : [];
  return [...new Set([wanted.caller.principal, ...others.flatMap(startersOf)])];
}
