import { visibleRun } from "../../engine/execute.ts";
import { tokenStepMs, withTokens } from "../../engine/gates/shown-gates.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import { cancelRuns } from "../../engine/runs/cancel-runs.ts";
import { bulkCancelRuns, cancelRun, pauseRun, resumeRun } from "../../engine/runs/change-run.ts";
import { queryInstant } from "../../engine/runs/query-instant.ts";
import { childStatuses, listRuns, snapshot, withChildStatuses } from "../../engine/runs/read-run.ts";
import type {
  BulkCancelRequest,
  CancelRunRequest,
  PauseRunRequest,
  ResumeRunRequest,
} from "../../protocol/runs/api.ts";
import type { CancelRunsRequest } from "../../protocol/runs/cancel-operations.ts";
import { openInterrupts } from "../../protocol/runs/run.ts";
import type { RunStatus } from "../../protocol/runs/run-status.ts";
import { digest, noneMatch } from "../pipeline/etag.ts";
import { callerOf, type Handler, type Reply, type RequestContext } from "../pipeline/handler.ts";
import { jsonPages, pagesOf, sendList } from "../pipeline/send-list.ts";

const DEFAULT_LIMIT = 50;

export const listRunsRoute: Handler = async (context) => {
  const { limit = DEFAULT_LIMIT, from, to, ...filters } = context.query as ListRunsQuery;
  const period = {
    ...(from === undefined ? {} : { fromMs: queryInstant("from", from) }),
    ...(to === undefined ? {} : { toMs: queryInstant("to", to) }),
  };
  const { runs, ...cursor } = await listRuns(context.host, callerOf(context), { ...filters, ...period, limit });
  const after = Object.keys(cursor).length === 0 ? "]}" : `],${JSON.stringify(cursor).slice(1)}`;
  // One run may be large: each becomes text by itself.
  return sendList(context, { before: '{"runs":[', items: jsonPages(pagesOf(runs, 1)), after });
};

interface ListRunsQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly workflowId?: string;
  readonly status?: RunStatus;
  readonly agentId?: string;
  readonly tag?: string;
  readonly from?: string;
  readonly to?: string;
}

export function getRunRoute(authorizer: Pick<Authorizer, "decide">): Handler {
  return async (context) => {
    const { host } = context;
    const caller = callerOf(context);
    const run = await visibleRun(host, caller, runIdOf(context));
    const answers = openInterrupts(run).length > 0 && (await authorizer.decide(caller, "approvals:respond")).allowed;
    // A snapshot is a function of the log, and the version says how much of the log there is; tokens come and go, and
    // what children are is in logs of their own.
    const tokens = answers ? `-${Math.floor(host.nowMs() / tokenStepMs(host.tokens))}` : "";
    const statuses = await childStatuses(host, run);
    const children = statuses.size === 0 ? "" : `-${digest(JSON.stringify([...statuses]))}`;
    const etag = `"${run.runId}-${run.version}${tokens}${children}"`;
    const headers = { etag };
    if (!noneMatch(context.headers["if-none-match"], etag)) return { status: 304, raw: null, headers };
    const shown = withChildStatuses(await snapshot(host, run), statuses);
    return { status: 200, json: answers ? withTokens(host, run, shown) : shown, headers };
  };
}

export const cancelRunRoute: Handler = async (context) => {
  const request = context.body as CancelRunRequest;
  return ok(await cancelRun(context.host, { ...changeOf(context), request, record: context.recorder(ok) }));
};

export const bulkCancelRunsRoute: Handler = async (context) =>
  ok(await bulkCancelRuns(context.host, callerOf(context), context.body as BulkCancelRequest));

export const cancelRunsRoute: Handler = async (context) =>
  ok(await cancelRuns(context.host, callerOf(context), context.body as CancelRunsRequest));

export const pauseRunRoute: Handler = async (context) => {
  const request = context.body as PauseRunRequest;
  return accepted(await pauseRun(context.host, { ...changeOf(context), request, record: context.recorder(accepted) }));
};

export const resumeRunRoute: Handler = async (context) => {
  const request = context.body as ResumeRunRequest;
  return accepted(await resumeRun(context.host, { ...changeOf(context), request, record: context.recorder(accepted) }));
};

function changeOf(context: RequestContext) {
  return { caller: callerOf(context), runId: runIdOf(context) };
}

function runIdOf({ params }: RequestContext): string {
  return params["runId"] ?? "";
}

function ok(json: unknown): Reply {
  return { status: 200, json };
}

function accepted(json: unknown): Reply {
  return { status: 202, json };
}
