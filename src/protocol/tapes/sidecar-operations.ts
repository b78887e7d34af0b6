import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { PastRows, PushSidecarRequest, PushSidecarResponse } from "./sidecar-api.ts";

const FEEDBACK = { capability: "feedback", off: "capability_not_provided" } as const;

/** Sidecars: judgments of a run as a file, pushed and pulled. */
export const SIDECAR_OPERATIONS = {
  pushSidecar: {
    method: "POST",
    path: "/v1/host/assay/tapes/{runId}/sidecar",
    tag: "tapes",
    summary:
      "Make judgments of the rows of a sidecar. What is here already stays as it is; all rows are taken or none.",
    access: "runs:annotate",
    gate: FEEDBACK,
    body: PushSidecarRequest,
    takesTape: true,
    idempotent: "many",
    success: { status: 200, schema: PushSidecarResponse },
    errors: [
      ...PROTECTED,
      ...KEYED,
      ...BODY,
      "not_found",
      "engine_version_mismatch",
      "sidecar_unreadable",
      "sidecar_refused",
      "annotation_conflict",
      "tape_conflict",
      "capability_not_provided",
    ],
  },
  pullSidecar: {
    method: "GET",
    path: "/v1/host/assay/tapes/{runId}/sidecar",
    tag: "tapes",
    summary:
      "The sidecar of a run: the file that was pushed, byte for byte where nothing changed, and later judgments.",
    access: "runs:read",
    gate: FEEDBACK,
    success: { status: 200, contentType: "text/plain" },
    errors: [...PROTECTED, "not_found", "engine_version_mismatch", "capability_not_provided"],
  },
  listPastRows: {
    method: "GET",
    path: "/v1/host/assay/tapes/{runId}/sidecar/past",
    tag: "tapes",
    summary: "Lines of the sidecar of a run that were replaced or retracted, so that they are not taken for new ones.",
    access: "runs:read",
    gate: FEEDBACK,
    success: { status: 200, schema: PastRows },
    errors: [...PROTECTED, "not_found", "engine_version_mismatch", "capability_not_provided"],
  },
} as const satisfies Record<string, Operation>;
