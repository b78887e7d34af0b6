import { auditDraft } from "../../engine/execute.ts";
import { pauses } from "../../engine/worker/pauses.ts";
import { AppError } from "../../protocol/errors.ts";
import { isApproval } from "../../protocol/gates/gate-rules.ts";
import type { DeploymentTransition, PolicyGate } from "../../protocol/promotion/api.ts";
import { startersOf } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { RunWrite } from "../../store/port/store.ts";
import { approvalCondition, gateIdOf } from "./approval.ts";
import type { Asked } from "./deployments.ts";
import { type Considered, commit, joined, targetOf } from "./management-run.ts";

/** Whether those who ask for a transition, or apply it, may not be among those who approve it. */
export function forbidsOwn({ forbidSelfApproval = true }: PolicyGate): boolean {
  return forbidSelfApproval;
}

/** The refusal of a request by a principal who approved what it asks for; undefined where they did not. */
function ownApproval({ wanted, conditions }: Considered, gate: PolicyGate, run: Run): AppError | undefined {
  const { principal } = wanted.caller;
  if (!forbidsOwn(gate) || !approversOf(run).has(principal)) return undefined;
  return new AppError("forbidden", {
    problem: `${principal} approved this transition; a principal must not both approve a transition and request or apply it; let another principal send the request`,
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

/** The refusal of a request by a principal who approved it, or another request for the same step. */
export function ownApprovalAmong(considered: Considered, gate: PolicyGate, runs: readonly Run[]): AppError | undefined {
  return runs.map((run) => ownApproval(considered, gate, run)).find((own) => own !== undefined);
}

/** Makes the caller one of those who ask for what these waiting runs were made for: from then on they cannot approve it. */
export async function joinRequests(considered: Considered, runs: readonly Run[]): Promise<"done" | "moved"> {
  const { host, wanted } = considered;
  const { caller, request } = wanted;
  const writes = joinedSiblings(considered, runs);
  if (writes.length === 0) return "done";
  const details = { runId: runs.map(({ runId }) => runId).join(" "), transition: request.transition, joined: true };
  return commit(host, {
    tenant: caller.tenant,
    runs: writes,
    audit: [auditDraft(caller, host.nowMs(), targetOf(wanted), { action: "deployment.requested", details })],
  });
}

/**
 * Requests about one agent in one place that may wait for people at the same time. Each new one reads all of them, and makes who asks
 * one of those who ask for each that is about the same step. Requests that take a version back are counted on their own: however many
 * promotions wait, a bad version can be taken back.
 */
export const OPEN_REQUESTS_MAX = 100;

/** Requests for the same step that differ in the rest (evidence, channel, share) and were asked about apart. */
export async function siblingsOf(considered: Considered): Promise<Run[]> {
  const { asked } = considered.stored.now;
  return (await openAmong(considered, asked)).filter((run) => isAbout(run, considered.wanted.request));
}

async function openAmong({ host, place }: Considered, asked: readonly Asked[]): Promise<Run[]> {
  const pause = pauses();
  const open: Run[] = [];
  for (const { runId } of asked) {
    const run = await host.store.readRun(place, runId);
    if (run !== undefined && !isTerminal(run.status)) open.push(run);
    await pause();
  }
  return open;
}

/**
 * The earlier requests that a new one is written with. Requests that have ended are dropped once there are too many; where too
 * many are still waiting, no request is accepted until some are decided or cancelled.
 */
export async function earlierRequests(considered: Considered, digest: string): Promise<readonly Asked[]> {
  const others = considered.stored.now.asked.filter((one) => one.digest !== digest);
  if (others.length < OPEN_REQUESTS_MAX) return others;
  const open = await openAmong(considered, others);
  const takesBack = TAKE_BACK.has(considered.wanted.request.transition);
  const alike = open.filter((run) => TAKE_BACK.has(shownBy(run)["transition"]) === takesBack);
  const [oldest] = alike;
  if (oldest !== undefined && alike.length >= OPEN_REQUESTS_MAX) {
    throw new AppError("run_state_conflict", {
      runId: oldest.runId,
      runStatus: oldest.status,
      full: true,
      problem: `${alike.length} requests about this agent wait for people, this one the longest; decide or cancel some of them before you ask for more`,
      conditions: [...considered.conditions],
    });
  }
  const waiting = new Set(open.map(({ runId }) => runId));
  return others.filter(({ runId }) => waiting.has(runId));
}

const TAKE_BACK: ReadonlySet<unknown> = new Set<DeploymentTransition["transition"]>(["rollback", "pause"]);

/** A gate shows where a transition leads also where its request left that out: only promotions have to say it. */
function isAbout(run: Run, request: Considered["wanted"]["request"]): boolean {
  const shown = shownBy(run);
  const { transition, version, toState = shown["toState"] } = request;
  return shown["transition"] === transition && shown["version"] === version && shown["toState"] === toState;
}

/** The transition that the gate of a request shows: a request has one gate, which is open while the request waits. */
function shownBy({ interrupts }: Run): Readonly<Record<string, unknown>> {
  const [gate] = Object.values(interrupts);
  return (gate?.data["artifactData"] ?? {}) as Readonly<Record<string, unknown>>;
}

/** The writes that add the new requester to the sibling requests. */
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
