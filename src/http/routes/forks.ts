import { diffRuns } from "../../engine/runs/diff-runs.ts";
import { forkRun } from "../../engine/runs/fork-run.ts";
import type { ForkRunFurtherRequest } from "../../protocol/runs/fork-api.ts";
import { traceOfHeader } from "../../protocol/runs/trace.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";

/** Both routes: the body schema of each says whether an annotation may be named. */
export const forkRunRoute: Handler = async (context) => {
  const request = context.body as ForkRunFurtherRequest;
  const runId = context.params["runId"] ?? "";
  const record = context.recorder(created);
  const trace = traceOfHeader(context.headers["traceparent"]?.toString());
  return created(await forkRun(context.host, { caller: callerOf(context), runId, request, trace, record }));
};

export const diffRunsRoute: Handler = async (context) => {
  const { against } = context.query as { against: string };
  const runId = context.params["runId"] ?? "";
  return { status: 200, json: await diffRuns(context.host, callerOf(context), runId, against) };
};

function created(json: unknown): Reply {
  return { status: 201, json };
}
