import { visibleRun } from "../../engine/execute.ts";
import { debugBundle } from "../../engine/runs/debug-bundle.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ExportBundleRequest } from "../../protocol/runs/bundle-api.ts";
import { callerOf, type Handler, type Reply, type RequestContext } from "../pipeline/handler.ts";

export function getDebugBundleRoute(version: string): Handler {
  return (context) => bundled(context, context.params["runId"] ?? "", version);
}

/** Where bundles are not served, the seam has none either. */
export function seamExportBundleRoute(version: string): Handler {
  return (context) => {
    const { runId } = context.body as ExportBundleRequest;
    if (!context.host.capabilities.has("debugBundle")) throw new AppError("not_found", { what: "debug bundle" });
    return bundled(context, runId, version);
  };
}

async function bundled(context: RequestContext, runId: string, version: string): Promise<Reply> {
  const { host } = context;
  const raw = await debugBundle(host, await visibleRun(host, callerOf(context), runId), version);
  return { status: 200, raw, contentType: "application/json", headers: { "cache-control": "no-store" } };
}
