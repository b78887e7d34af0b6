import { visibleRun } from "../../engine/execute.ts";
import { tokenStepMs, withTokens } from "../../engine/gates/shown-gates.ts";
import { voterOf } from "../../engine/gates/voter.ts";
import type { Host } from "../../engine/host.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import { bulkCancelRuns, cancelRuns } from "../../engine/runs/cancel-runs.ts";
import { cancelRun, pauseRun, resumeRun } from "../../engine/runs/change-run.ts";
import { createRun } from "../../engine/runs/create-run.ts";
import { debugBundle } from "../../engine/runs/debug-bundle.ts";
import { deleteRun } from "../../engine/runs/delete-run.ts";
import { diffRuns } from "../../engine/runs/diff-runs.ts";
import { forkRun } from "../../engine/runs/fork-run.ts";
import { childStatuses, listRuns, snapshot, withChildStatuses } from "../../engine/runs/read-run.ts";
import { createEvalRun } from "../../evals/run/create-eval-run.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import { parseSuiteAddress, type SuiteAddress } from "../../evals/suite/suite-uri.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { queryInstant } from "../../protocol/instant.ts";
import type { ForkRunFurtherRequest } from "../../protocol/runs/fork-api.ts";
import type { RUN_OPERATIONS } from "../../protocol/runs/operations.ts";
import { openInterrupts, type Run } from "../../protocol/runs/run.ts";
import { traceOfHeader } from "../../protocol/runs/trace.ts";
import { type HandlerOf, type HandlersOf, type RequestContext, recordedReply } from "../pipeline/handler.ts";
import { accepted, created, digest, download, noneMatch, ok, type Reply } from "../pipeline/reply.ts";
import { jsonPages, pagesOf, sendList } from "../pipeline/send-list.ts";

type RunOperations = typeof RUN_OPERATIONS;

interface RunDeps {
  readonly authorizer: Pick<Authorizer, "authorize" | "decide">;
  readonly evals: EvalServices;
  readonly version: string;
  readonly publicUrl?: string | undefined;
}

const DEFAULT_LIMIT = 50;

/** All but the routes that follow a run, which are in `events.ts`. */
export function runRoutes(deps: RunDeps): HandlersOf<Omit<RunOperations, "streamEvents" | "pollEvents">> {
  return {
    createRun: createRunRoute(deps),
    listRuns: async (context) => {
      const { limit = DEFAULT_LIMIT, from, to, ...filters } = context.query;
      const period = defined({
        fromMs: from === undefined ? undefined : queryInstant("from", from),
        toMs: to === undefined ? undefined : queryInstant("to", to),
      });
      const { runs, ...cursor } = await listRuns(context.host, context.caller, { ...filters, ...period, limit });
      const after = Object.keys(cursor).length === 0 ? "]}" : `],${JSON.stringify(cursor).slice(1)}`;
      // A run may be large: each becomes text by itself.
      return sendList(context, { before: '{"runs":[', items: jsonPages(pagesOf(runs, 1)), after });
    },
    getRun: getRunRoute(deps),
    cancelRun: (context) =>
      recordedReply(context, ok, (record) => cancelRun(context.host, { ...changeOf(context), record })),
    pauseRun: (context) =>
      recordedReply(context, accepted, (record) => pauseRun(context.host, { ...changeOf(context), record })),
    resumeRun: (context) =>
      recordedReply(context, accepted, (record) => resumeRun(context.host, { ...changeOf(context), record })),
    bulkCancelRuns: async ({ host, caller, body }) => ok(await bulkCancelRuns(host, caller, body)),
    cancelRuns: async ({ host, caller, body }) => ok(await cancelRuns(host, caller, body)),
    deleteRun: (context) =>
      recordedReply(context, ok, (record) => {
        return deleteRun(context.host, { caller: context.caller, runId: context.params.runId, record });
      }),
    forkRun: (context) => fork(context, context.body),
    forkRunBecause: (context) => fork(context, context.body),
    diffRuns: async ({ host, caller, params, query }) => ok(await diffRuns(host, caller, params.runId, query.against)),
    getArtifact: async ({ host, caller, params: { runId, artifactId } }) => {
      await visibleRun(host, caller, runId);
      const artifact = await host.store.readArtifact(caller, runId, artifactId);
      if (!artifact) throw new AppError("not_found", { what: "artifact", runId, artifactId });
      return download(artifact);
    },
    getDebugBundle: async ({ host, caller, params }) => {
      const raw = await debugBundle(host, await visibleRun(host, caller, params.runId), deps.version);
      return { status: 200, raw, contentType: "application/json", headers: { "cache-control": "no-store" } };
    },
  };
}

function createRunRoute({ authorizer, evals, publicUrl }: RunDeps): HandlerOf<RunOperations["createRun"]> {
  return (context) =>
    recordedReply(context, created, async (record) => {
      const { host, headers, caller, body: request } = context;
      // This host gives out no test keys, which this header needs.
      if (headers["x-force-engine-version"] !== undefined) throw new AppError("force_engine_version_forbidden");
      // The host posts tokens to the callback that answer the run's gates: only a caller who may answer them receives them.
      if (request.callbackUrl !== undefined) await authorizer.authorize(caller, "approvals:respond");
      const dedup = dedupOf(headers["x-dedup"]);
      const command = { caller, dedup, trace: traceIn(context), record };
      if (request.mode !== "eval") return createRun(host, { ...command, request });
      const suite =
        request.evalSuiteRef === undefined ? undefined : suiteNamed(request.evalSuiteRef, headers.host, publicUrl);
      // A suite that is fetched is stored for the tenant, as if the caller had uploaded it.
      if (suite?.type === "fetched") await authorizer.authorize(caller, "suites:write");
      const named = suite?.type === "kept" ? { ...request, evalSuiteRef: suite.ref } : request;
      return createEvalRun(host, evals, { ...command, request: named });
    });
}

function traceIn({ headers }: Pick<RequestContext, "headers">) {
  return traceOfHeader(headers["traceparent"]?.toString());
}

/** Suites of this host are addressed by the name that the request was sent to, or by its public one. */
function suiteNamed(ref: string, host: string | undefined, publicUrl: string | undefined): SuiteAddress {
  const own = [`http://${host ?? ""}`, publicUrl ?? ""].filter((one) => URL.canParse(one));
  return parseSuiteAddress(
    ref,
    own.map((one) => new URL(one).host),
  );
}

function dedupOf(header: string | string[] | undefined): boolean {
  if (header === undefined) return false;
  if (header === "enforce") return true;
  throw validationError('X-Dedup must be "enforce" or left out');
}

function getRunRoute({ authorizer }: RunDeps): HandlerOf<RunOperations["getRun"]> {
  return async ({ host, caller, params, headers: { "if-none-match": known } }) => {
    const run = await visibleRun(host, caller, params.runId);
    const answers = openInterrupts(run).length > 0 && (await mayAnswer(authorizer, host, caller, run));
    // A snapshot is a function of the log, and the version counts the events of the log. Tokens expire and are replaced, and
    // the statuses of children come from other logs.
    const tokens = answers ? `-${Math.floor(host.nowMs() / tokenStepMs(host.tokens))}` : "";
    const statuses = await childStatuses(host, run);
    const children = statuses.size === 0 ? "" : `-${digest(JSON.stringify([...statuses]))}`;
    const etag = `"${run.runId}-${run.version}${tokens}${children}"`;
    const headers = { etag };
    if (!noneMatch(known, etag)) return { status: 304, raw: null, headers };
    const shown = withChildStatuses(await snapshot(host, run), statuses);
    return { status: 200, json: answers ? withTokens(host, run, shown) : shown, headers };
  };
}

/** Whether the caller gets tokens for what the run waits for. */
async function mayAnswer(
  authorizer: Pick<Authorizer, "decide">,
  host: Host,
  caller: Caller,
  { owner }: Run,
): Promise<boolean> {
  if (!(await authorizer.decide(caller, "approvals:respond")).allowed) return false;
  return caller.workspace === owner.workspace || (await voterOf(host, caller, owner)).mayNotAnswer === undefined;
}

function changeOf<B>({ caller, params, body }: Changing & { readonly body: B }) {
  return { caller, runId: params.runId, request: body };
}

interface Changing extends Pick<RequestContext, "host" | "headers" | "recorder"> {
  readonly caller: Caller;
  readonly params: { readonly runId: string };
}

/** Both routes: the body schema of each says whether an annotation may be named. */
function fork(context: Changing, request: ForkRunFurtherRequest): Promise<Reply> {
  const { host, caller, params } = context;
  return recordedReply(context, created, (record) =>
    forkRun(host, { caller, runId: params.runId, request, trace: traceIn(context), record }),
  );
}
