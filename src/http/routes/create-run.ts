import type { Authorizer } from "../../engine/identity/roles.ts";
import { createRun } from "../../engine/runs/create-run.ts";
import { createEvalRun } from "../../evals/run/create-eval-run.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import { parseSuiteAddress, type SuiteAddress } from "../../evals/suite/suite-uri.ts";
import { AppError } from "../../protocol/errors.ts";
import type { CreateRunRequest } from "../../protocol/runs/api.ts";
import { traceOfHeader } from "../../protocol/runs/trace.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";

export function createRunRoute(
  authorizer: Pick<Authorizer, "authorize">,
  evals: EvalServices,
  publicUrl?: string,
): Handler {
  return async (context) => {
    const { headers } = context;
    // This host hands out no test keys, so whoever asks may not.
    if (headers["x-force-engine-version"] !== undefined) throw new AppError("force_engine_version_forbidden");
    const request = context.body as CreateRunRequest;
    const caller = callerOf(context);
    // What is posted there answers the run's gates: nobody has sent to himself what he could not read in a snapshot.
    if (request.callbackUrl !== undefined) await authorizer.authorize(caller, "approvals:respond");
    const dedup = dedupOf(headers["x-dedup"]);
    const trace = traceOfHeader(headers["traceparent"]?.toString());
    const command = { caller, request, dedup, trace, record: context.recorder(created) };
    if (request.mode !== "eval") return created(await createRun(context.host, command));
    const suite =
      request.evalSuiteRef === undefined ? undefined : suiteNamed(request.evalSuiteRef, headers.host, publicUrl);
    // What is fetched is kept for the tenant, as if the caller had brought it.
    if (suite?.type === "fetched") await authorizer.authorize(caller, "suites:write");
    const named = suite?.type === "kept" ? { ...request, evalSuiteRef: suite.ref } : request;
    return created(await createEvalRun(context.host, evals, { ...command, request: named }));
  };
}

/** This host is known by the address that it was asked under, and by its public one. */
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
  throw new AppError("validation_error", { problem: 'X-Dedup must be "enforce" or left out' });
}

function created(json: unknown): Reply {
  return { status: 201, json };
}
