import { auditDraft, refused, visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { baselineFileOf } from "../../formats/evals/baseline-file.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { EvalSummary } from "../../protocol/evals/api.ts";
import type { BaselineFile } from "../../protocol/evals/baselines.ts";
import {
  type BaselineListQuery,
  BaselineName,
  type BaselinePage,
  type EvalBaseline,
  type SetBaselineRequest,
} from "../../protocol/evals/baselines.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import { isReplay } from "../../protocol/runs/forked-from.ts";
import { matches } from "../../protocol/schema.ts";
import type { Document, Documents } from "../../store/port/documents.ts";
import { baselineKey, keptBaselineFile } from "./baseline.ts";
import { evalPlanOf } from "./eval-plan.ts";
import { tasksWithPasses } from "./passes.ts";
import { readOutcomes } from "./task-result.ts";

type Needs = Pick<Host, "store" | "nowMs">;
type Naming = Pick<Host, "store" | "nowMs" | "scrubber">;

type BaselineFigures = Omit<EvalBaseline, "name" | "setBy" | "setAt" | "replacedRunId">;

export interface BaselineId {
  readonly suiteId: string;
  readonly name: string;
}

/** Names an evaluation, or a file, as what later ones are compared with. Who did it and when is kept, and what it replaced. */
export async function setBaseline(
  host: Naming,
  caller: Caller,
  { suiteId, name }: BaselineId,
  { runId: named, fileSha256 }: SetBaselineRequest,
): Promise<EvalBaseline> {
  if (!matches(BaselineName, name)) {
    throw validationError(
      "the name of a baseline has letters, digits, dots, hyphens and underscores, 100 at most, and does not begin with run-",
    );
  }
  // Names are looked up as they are, so secrets cannot be removed from them.
  if (host.scrubber.scrubText(name) !== name)
    throw validationError("the name of the baseline looks like a secret; choose another one");
  if ((named === undefined) === (fileSha256 === undefined)) throw validationError("name one of runId and fileSha256");
  const figures =
    fileSha256 === undefined ? await blessable(host, caller, named ?? "") : await importable(host, caller, fileSha256);
  const { runId } = figures;
  if (figures.suiteId !== suiteId) {
    throw validationError(`${runId} is an evaluation with suite ${figures.suiteId}, not ${suiteId}`);
  }
  const current = await find(host.store, caller, { suiteId, name });
  const before = current && parsed(current).runId;
  const atMs = host.nowMs();
  const baseline: EvalBaseline = {
    ...figures,
    name,
    setBy: caller.principal,
    setAt: new Date(atMs).toISOString(),
    ...(before === undefined || before === runId ? {} : { replacedRunId: before }),
  };
  const { tenant, workspace } = caller;
  const document: Document = {
    tenant,
    kind: "baseline",
    key: baselineKey(workspace, suiteId, name),
    ...defined({ workspace }),
    revision: (current?.revision ?? 0) + 1,
    atMs,
    body: JSON.stringify(baseline),
  };
  const details = {
    runId,
    ...defined({ before, fileSha256 }),
  };
  const committed = await host.store.commit({
    tenant,
    documents: [{ type: "put", document }],
    audit: [auditDraft(caller, atMs, `${suiteId}/${name}`, { action: "baseline.set", details })],
  });
  if (!committed.ok) throw refused(committed.refusal);
  return baseline;
}

/** Only completed evaluations can be a baseline. */
async function blessable({ store }: Needs, caller: Caller, runId: string): Promise<BaselineFigures> {
  const run = await visibleRun({ store } as Host, caller, runId);
  const plan = evalPlanOf(run);
  if (plan === undefined) throw validationError(`${runId} is no evaluation`);
  if (isReplay(run)) throw validationError(`${runId} is a replay and judged nothing itself; name its source`);
  if (run.status !== "completed") {
    const problem = `only an evaluation that has completed can be a baseline; this one is ${run.status}`;
    throw new AppError("run_state_conflict", { runId, runStatus: run.status, problem });
  }
  const { suiteId, suiteVersion, suiteSha256, agentId, resolvedAgentVersion } = plan;
  const { aggregateScore, passed, taskCount, passedCount } = run.outputs as unknown as EvalSummary;
  const what = { runId, suiteId, suiteVersion, suiteSha256, agentId, resolvedAgentVersion };
  return { ...what, aggregateScore, passed, taskCount, passedCount };
}

async function importable({ store }: Needs, caller: Caller, fileSha256: string): Promise<BaselineFigures> {
  const file = await keptBaselineFile(store, caller, fileSha256);
  if (file === undefined) throw new AppError("not_found", { what: "baseline file", fileSha256 });
  const { runId, suiteId, suiteVersion, suiteSha256, agentId, resolvedAgentVersion } = file;
  const { aggregateScore, passed, passedCount, tasks, name, setBy, setAt } = file;
  const what = { runId, suiteId, suiteVersion, suiteSha256, agentId, resolvedAgentVersion };
  const imported = { fileSha256, name, setBy, setAt };
  return { ...what, aggregateScore, passed, taskCount: tasks.length, passedCount, imported };
}

/** Exports a baseline as a file for other hosts; an imported one is exported unchanged. */
export async function exportBaseline(host: Needs, visible: Visibility, id: BaselineId): Promise<BaselineFile> {
  const { taskCount, replacedRunId: _, imported, ...baseline } = parsed(await required(host, visible, id));
  const { store } = host;
  if (imported !== undefined) {
    const kept = await keptBaselineFile(store, visible, imported.fileSha256);
    if (kept !== undefined) return kept;
    throw new AppError("not_found", { what: "baseline file", fileSha256: imported.fileSha256 });
  }
  const plan = evalPlanOf(await visibleRun({ store } as Host, visible, baseline.runId));
  const results = await readOutcomes(store, visible.tenant, baseline.runId);
  if (plan === undefined || results.length < taskCount) {
    throw new AppError("not_found", { what: "evaluation", runId: baseline.runId });
  }
  const tasks = tasksWithPasses(results, plan.modes);
  const { name, suiteId, suiteVersion, suiteSha256, ...rest } = baseline;
  return baselineFileOf({
    ...{ name, suiteId, suiteVersion, suiteSha256 },
    ...rest,
    trialsPerTask: plan.trials,
    tasks: tasks.map(({ taskId, score, passed, trials, passes }) => ({
      taskId,
      score,
      passed,
      trials,
      ...(passes.length === 0
        ? {}
        : {
            passes: passes.map((pass) => ({
              mode: pass.mode,
              score: pass.score,
              passed: pass.passed,
              trials: pass.trials,
            })),
          }),
    })),
  });
}

export async function getBaseline(host: Needs, visible: Visibility, id: BaselineId): Promise<EvalBaseline> {
  return parsed(await required(host, visible, id));
}

export async function removeBaseline(host: Needs, caller: Caller, id: BaselineId): Promise<void> {
  const { tenant, kind, key, revision, body } = await required(host, caller, id);
  const { runId } = JSON.parse(body) as EvalBaseline;
  const atMs = host.nowMs();
  const target = `${id.suiteId}/${id.name}`;
  const committed = await host.store.commit({
    tenant,
    documents: [{ type: "delete", id: { tenant, kind, key }, revision }],
    audit: [auditDraft(caller, atMs, target, { action: "baseline.removed", details: { runId } })],
  });
  if (!committed.ok) throw refused(committed.refusal);
}

const DEFAULT_LIMIT = 50;

/** Lists baselines by suite and name. A cursor is the end of the page before. */
export async function listBaselines(
  { store }: Needs,
  { tenant, workspace }: Visibility,
  { suiteId, limit = DEFAULT_LIMIT, cursor }: BaselineListQuery,
): Promise<BaselinePage> {
  const prefix = `${JSON.stringify([workspace ?? "", ...(suiteId === undefined ? [] : [suiteId])]).slice(0, -1)},`;
  const after = cursor === undefined ? {} : { after: keyOf(cursor, prefix) };
  const found = await store.listDocuments(tenant, "baseline", { prefix, limit: limit + 1, ...after });
  const baselines = found.slice(0, limit).map(parsed);
  const last = found[limit - 1];
  return found.length > limit && last ? { baselines, nextCursor: cursorOf(last.key) } : { baselines };
}

function cursorOf(key: string): string {
  return Buffer.from(key).toString("base64url");
}

function keyOf(cursor: string, prefix: string): string {
  const key = Buffer.from(cursor, "base64url").toString("utf8");
  if (key.startsWith(prefix)) return key;
  throw validationError("cursor is not one this host gave out");
}

function find(
  store: Documents,
  { tenant, workspace }: Visibility,
  { suiteId, name }: BaselineId,
): Promise<Document | undefined> {
  return store.readDocument({ tenant, kind: "baseline", key: baselineKey(workspace, suiteId, name) });
}

async function required({ store }: Needs, visible: Visibility, id: BaselineId): Promise<Document> {
  const found = await find(store, visible, id);
  if (found === undefined) throw new AppError("not_found", { what: "baseline", ...id });
  return found;
}

function parsed({ body }: Document): EvalBaseline {
  return JSON.parse(body) as EvalBaseline;
}
