import { refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { ownerOf } from "../../engine/runs/create-run.ts";
import { failRun } from "../../engine/runs/decide/end-run.ts";
import { startRun } from "../../engine/runs/decide/start-run.ts";
import { stamp } from "../../engine/runs/stamp.ts";
import { takeTurn } from "../../engine/worker/turn.ts";
import type { Plan } from "../../engine/workflows/decide/plan.ts";
import { defined } from "../../protocol/defined.ts";
import type { EventDraft, RunError, RunEvent } from "../../protocol/events.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { Condition, DeploymentTransition, PolicyRule } from "../../protocol/promotion/api.ts";
import { nodeOf, type Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { DocumentWrite } from "../../store/port/documents.ts";
import type { RunWrite, Unit } from "../../store/port/store.ts";
import type { InstalledAgent } from "../agents.ts";
import { APPLY } from "./management-workflow.ts";
import type { StoredDeployments } from "./stored-deployments.ts";

/** A requested transition, its requester, and the permission. */
export interface Wanted {
  readonly caller: Caller;
  readonly agentId: string;
  readonly request: DeploymentTransition;
  readonly scope: string;
  /** Why they may not; absent when they may. */
  readonly denied?: string;
}

/** The run that records a transition. Nothing of it exists before it is committed. */
export class ManagementRun {
  readonly runId: string;
  readonly #host: Host;
  readonly #plan: Plan;
  readonly #from: number;
  readonly #events: RunEvent[] = [];
  #run: Run | undefined;

  private constructor(host: Host, plan: Plan, runId: string, run: Run | undefined) {
    this.#host = host;
    this.#plan = plan;
    this.runId = runId;
    this.#run = run;
    this.#from = run?.version ?? 0;
  }

  /** `others` asked for the same before, in other words. */
  static begin(host: Host, plan: Plan, runId: string, wanted: Wanted, others: readonly string[] = []): ManagementRun {
    const { caller, agentId, request } = wanted;
    const { version, transition } = request;
    const metadata = { agentId, version, transition };
    const started = startRun(plan, {
      request: { workflowId: plan.definition.id, metadata },
      owner: ownerOf(caller),
      limits: host.limits,
    });
    const begun = new ManagementRun(host, plan, runId, undefined);
    begun.#append([started, authorization(wanted), ...others.map(starterAdded)]);
    begun.#goOn();
    return begun;
  }

  static resume(host: Host, plan: Plan, run: Run, wanted: Wanted): ManagementRun {
    const resumed = new ManagementRun(host, plan, run.runId, run);
    // The gate was passed, and maybe no worker has taken it from there.
    if (nodeOf(run, APPLY) === undefined) resumed.#goOn();
    resumed.#append([authorization(wanted)]);
    return resumed;
  }

  get run(): Run {
    if (this.#run === undefined) throw new Error(`the deployment run ${this.runId} has no beginning`);
    return this.#run;
  }

  /** Completes the run of an applied transition. */
  complete(events: readonly EventDraft[], outputs: Readonly<Record<string, unknown>>): void {
    const applied = events.map((event) => ({ ...event, nodeId: APPLY }) as EventDraft);
    this.#append([...applied, { type: "node.completed", nodeId: APPLY, payload: { nodeId: APPLY, outputs } }]);
    this.#goOn();
    if (this.run.status !== "completed") throw new Error(`the deployment run ${this.runId} did not complete`);
  }

  fail(error: RunError): void {
    const attempts = (nodeOf(this.run, APPLY)?.attempt ?? 0) + 1;
    this.#append([{ type: "node.failed", nodeId: APPLY, payload: { nodeId: APPLY, error, attempts } }]);
    this.#append(failRun(this.run, error, APPLY));
  }

  write(): RunWrite {
    return { runId: this.runId, expectedVersion: this.#from, events: this.#events, run: this.run };
  }

  #append(drafts: readonly EventDraft[]): void {
    const { nowMs, newId } = this.#host;
    const { run, events } = stamp(this.#run, drafts, { runId: this.runId, nowMs: nowMs(), newId });
    this.#run = run;
    this.#events.push(...events);
  }

  #goOn(): void {
    if (isTerminal(this.run.status)) return;
    const turn = takeTurn(this.#host, this.#plan, this.run, [], new Map());
    this.#run = turn.run;
    this.#events.push(...turn.events);
  }
}

/** Adds a requester to the waiting run of the same transition. */
export function joined({ nowMs, newId }: Host, before: Run, principal: string): RunWrite {
  const { runId, version: expectedVersion } = before;
  const { run, events } = stamp(before, [starterAdded(principal)], { runId, nowMs: nowMs(), newId });
  return { runId, expectedVersion, events, run };
}

function starterAdded(principal: string): EventDraft {
  return { type: "assay.starter.added", payload: { principal } };
}

function authorization({ caller, agentId, request, scope, denied }: Wanted): EventDraft {
  return {
    type: "authorization.decided",
    payload: {
      principal: caller.principal,
      action: scope,
      resource: `agent:${agentId}@${request.version}`,
      allowed: denied === undefined,
      ...defined({ reason: denied }),
    },
  };
}

/** A transition, and what has been found out about it so far. */
export interface Considered {
  readonly host: Host;
  readonly wanted: Wanted;
  readonly agent: InstalledAgent;
  readonly place: Visibility;
  readonly stored: StoredDeployments;
  readonly rule: PolicyRule;
  /** Refused where a policy was changed since the rule was read. */
  readonly ruleStands: DocumentWrite;
  readonly conditions: readonly Condition[];
}

export function targetOf({ agentId, request }: Wanted): string {
  return `${agentId}@${request.version}`;
}

/** "moved" when it was decided at something that has changed since. */
export async function commit(host: Host, unit: Unit): Promise<"done" | "moved"> {
  const committed = await host.store.commit(unit);
  if (committed.ok) return "done";
  const { refusal } = committed;
  if (["document", "version", "precondition"].includes(refusal.type)) return "moved";
  throw refused(refusal);
}
