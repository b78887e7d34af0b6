import { auditDraft } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Unit } from "../../store/port/store.ts";
import { commit, ManagementRun, targetOf, type Wanted } from "./management-run.ts";
import { managementPlan, planWrite } from "./management-workflow.ts";

const REMEMBERED_MS = 60_000;
const SUBJECTS_MAX = 10_000;

/** Refusals of the last minute: asking again and again must fill neither the database nor the audit chain. */
export class RecentRefusals {
  readonly #runs = new Map<string, { readonly runId: string; readonly atMs: number }>();

  find(subject: string, nowMs: number): string | undefined {
    const found = this.#runs.get(subject);
    return found !== undefined && nowMs >= found.atMs && nowMs - found.atMs < REMEMBERED_MS ? found.runId : undefined;
  }

  keep(subject: string, runId: string, atMs: number): void {
    if (this.#runs.size >= SUBJECTS_MAX) this.#runs.clear();
    this.#runs.set(subject, { runId, atMs });
  }
}

/** Records a refused transition: in a run of its own, unless there is one already. Returns the error with that run in it. */
export async function recordRefusal(
  host: Host,
  refusals: RecentRefusals,
  wanted: Wanted,
  error: AppError,
  gateRunId?: string,
): Promise<AppError> {
  const { caller, agentId, request } = wanted;
  const subject = JSON.stringify([caller.keyId, caller.principal, agentId, request, error.code, gateRunId ?? null]);
  const known = refusals.find(subject, host.nowMs());
  if (known !== undefined) return new AppError(error.code, { ...error.details, runId: known });
  const atMs = host.nowMs();
  const runId = gateRunId ?? host.newId("run");
  const { conditions } = error.details;
  const details = { runId, transition: request.transition, code: error.code, conditions };
  const committed = await commit(host, {
    tenant: caller.tenant,
    ...(gateRunId === undefined ? refusedRun(host, runId, wanted, error, atMs) : {}),
    audit: [auditDraft(caller, atMs, targetOf(wanted), { action: "deployment.refused", details })],
  });
  if (committed === "moved") throw new Error("a refusal alone was refused");
  refusals.keep(subject, runId, atMs);
  return new AppError(error.code, { ...error.details, runId });
}

function refusedRun(
  host: Host,
  runId: string,
  wanted: Wanted,
  { code, message }: AppError,
  atMs: number,
): Pick<Unit, "runs" | "workflows"> {
  const plan = managementPlan();
  const management = ManagementRun.begin(host, plan, runId, wanted);
  management.fail({ code, message, retryable: false });
  return { runs: [management.write()], workflows: [planWrite(plan, wanted.caller.tenant, atMs)] };
}
