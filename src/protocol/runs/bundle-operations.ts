import { BODY, type Operation, PROTECTED } from "../operation.ts";
import { DebugBundle, ExportBundleRequest } from "./bundle-api.ts";

/** Debug bundles of runs. */
export const BUNDLE_OPERATIONS = {
  getDebugBundle: {
    method: "GET",
    path: "/v1/runs/{runId}/debug-bundle",
    tag: "runs",
    summary: "Everything about a run in one document, without secrets: state, events, spans, annotations.",
    access: "runs:read",
    gate: { capability: "debugBundle", off: "not_found" },
    success: { status: 200, schema: DebugBundle },
    errors: [...PROTECTED, "not_found", "engine_version_mismatch"],
  },
  seamExportBundle: {
    method: "POST",
    path: "/v1/host/sample/test/debug-bundle/export",
    tag: "conformance seams",
    summary: "The debug bundle of a run of the caller's tenant.",
    access: "runs:read",
    gate: { capability: "conformanceSeams", off: "not_found" },
    body: ExportBundleRequest,
    success: { status: 200, schema: DebugBundle },
    errors: [...PROTECTED, ...BODY, "not_found"],
  },
} as const satisfies Record<string, Operation>;
