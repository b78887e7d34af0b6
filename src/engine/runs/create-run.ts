import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { Caller, Owner } from "../../protocol/identity/identity.ts";
import type { CreateRunRequest, CreateRunResponse } from "../../protocol/runs/api.ts";
import { MOCK_PROVIDERS, mockProviderProblem } from "../../protocol/runs/mock-provider.ts";
import { secretsOf } from "../../protocol/runs/snapshot.ts";
import type { Trace } from "../../protocol/runs/trace.ts";
import type { Unit } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { checkUrl } from "../outbound/guard.ts";
import { checked } from "../schemas/schema-checks.ts";
import { hideSecrets, requireFewSecrets } from "../secrets/hide-secrets.ts";
import { isTurnSpent, ownTurn } from "../worker/pauses.ts";
import { checkAgents } from "../workflows/check-agents.ts";
import { isStartable, type Plan } from "../workflows/decide/plan.ts";
import { unknownWorkflow } from "../workflows/plans.ts";
import { creationLimits } from "./creation-limits.ts";
import { checkInputNames, startRun } from "./decide/start-run.ts";
import { handOver } from "./hand-over.ts";
import { sealedTrace } from "./run-trace.ts";
import { stamp } from "./stamp.ts";

export interface CreateRun {
  readonly caller: Caller;
  readonly request: CreateRunRequest;
  /** `X-Dedup: enforce`: at most one run that has not ended per workflow and scopeId. */
  readonly dedup: boolean;
  /** The trace that the request is part of. */
  readonly trace?: Trace | undefined;
  readonly record: Recorder<CreateRunResponse>;
}

/** Validates the request, makes the run durable with its first event, and gives it to this process's worker if that has a place. */
export async function createRun(host: Host, command: CreateRun): Promise<CreateRunResponse> {
  const { caller, request } = command;
  if (request.tenantId !== undefined && request.tenantId !== caller.tenant) throw new AppError("tenant_mismatch");
  if (request.mode === "eval") throw new AppError("capability_not_provided", { capability: "agents.evalSuite" });
  checkMockProvider(host, request);
  if (request.callbackUrl !== undefined) await checkUrl(host.outbound, request.callbackUrl);
  const plan = await planFor(host, caller, request);
  checkInputNames(plan.definition, request.inputs ?? {});
  await checkAgents(host.nodeTypes, caller, plan.definition, "started");
  return beginRun(host, plan, command);
}

/** Answers that a run brings along are for conformance tests only. */
export function checkMockProvider({ capabilities }: Host, { configurable }: CreateRunRequest): void {
  const wanted = configurable?.mockProvider;
  if (wanted === undefined) return;
  if (!capabilities.has("conformanceSeams")) throw new AppError("mock_provider_forbidden");
  const problem = mockProviderProblem(wanted);
  if (problem === undefined) return;
  throw new AppError("unsupported_mock_provider", { provider: problem, supported: [...MOCK_PROVIDERS] });
}

/** Creates a run of this plan, with the side writes in the same commit. */
export async function beginRun(
  host: Host,
  plan: Plan,
  command: CreateRun,
  sideWrites: Pick<Unit, "workflows" | "documents"> = {},
): Promise<CreateRunResponse> {
  const { caller, request } = command;
  // The definition determines the cost of a start. Many small requests at once take a turn of the event loop each.
  if (isTurnSpent()) await ownTurn();
  const dedupScope = command.dedup ? dedupScopeOf(caller, request) : undefined;
  const runId = host.newId("run");
  const nowMs = host.nowMs();
  const started = await checked(() => startRun(plan, { request, owner: ownerOf(caller), limits: host.limits }));
  if (isTurnSpent()) await ownTurn();
  const begun = await hideSecrets(started, plan.definition, host.scrubber);
  const draft = sealedTrace(begun, command.trace);
  const { run, events } = stamp(undefined, [draft], { runId, nowMs, newId: host.newId });
  requireFewSecrets(secretsOf(run, plan.sensitivity));
  const url = `/v1/runs/${runId}`;
  const response: CreateRunResponse = { runId, status: run.status, eventsUrl: `${url}/events`, statusUrl: url };
  const outcome = command.record(response);
  await handOver(host, run, async (lease) => {
    const created = await host.store.commit({
      tenant: caller.tenant,
      runs: [defined({ runId, expectedVersion: 0, events, run, lease, dedupScope })],
      ...sideWrites,
      ...creationLimits(host),
      audit: [auditDraft(caller, nowMs, runId, { action: "run.created", details: { workflowId: run.workflowId } })],
      ...defined({ idempotency: outcome }),
    });
    if (!created.ok) throw refused(created.refusal);
  });
  return response;
}

async function planFor(host: Host, caller: Caller, request: CreateRunRequest) {
  const { workflowId } = request;
  if (workflowId === undefined) throw validationError("workflowId is required; GET /v1/workflows lists the workflows");
  const plan = await host.plans.current(caller.tenant, workflowId);
  if (!plan) throw await unknownWorkflow(host, caller, workflowId);
  if (!isStartable(plan)) throw validationError(`workflow "${workflowId}" is not active`, { workflowId });
  return plan;
}

/** Scopes of different workspaces do not conflict: a caller cannot see the runs of another workspace. */
function dedupScopeOf({ workspace }: Caller, { scopeId }: CreateRunRequest): string {
  if (scopeId !== undefined) return JSON.stringify([workspace ?? null, scopeId]);
  throw validationError("X-Dedup: enforce needs a scopeId in the body");
}

export function ownerOf({ tenant, workspace, principal }: Caller): Owner {
  return defined({ tenant, workspace, principal });
}
