import { operations } from "../operation.ts";
import {
  ImportTapeRequest,
  ImportTapeResponse,
  StoreBodyRequest,
  StoreBodyResponse,
  TapeDetails,
  TapeListQuery,
  TapePage,
} from "./api.ts";
import { PastRows, PushSidecarRequest, PushSidecarResponse } from "./sidecar-api.ts";

const common = { tag: "tapes" } as const;

/** Runs that were recorded elsewhere are imported as tapes, and every run is exported as one; sidecars hold the judgments of a run as a file. */
export const TAPE_OPERATIONS = operations(common, {
  importTape: {
    method: "POST",
    path: "/v1/host/assay/tapes",
    summary: "Make a run of a tape, to be read and judged. The same tape gives the same run.",
    access: "runs:create",
    body: ImportTapeRequest,
    takesTape: true,
    idempotent: "one",
    success: { status: 201, schema: ImportTapeResponse },
    otherwise: { status: 200, schema: ImportTapeResponse, summary: "It was here already; nothing was changed." },
    errors: ["tape_unreadable", "tape_too_long", "tape_conflict"],
  },
  listTapes: {
    method: "GET",
    path: "/v1/host/assay/tapes",
    summary: "Runs that came as tapes, newest first.",
    access: "runs:read",
    query: TapeListQuery,
    success: { status: 200, schema: TapePage },
  },
  getTape: {
    method: "GET",
    path: "/v1/host/assay/tapes/{runId}",
    summary: "What is known of the tape that a run came as.",
    access: "runs:read",
    success: { status: 200, schema: TapeDetails },
    errors: ["not_found"],
  },
  exportTape: {
    method: "GET",
    path: "/v1/host/assay/tapes/{runId}/tape",
    summary: "A run as a tape: its records as they came, or a record for each event of any other run.",
    access: "runs:read",
    success: { status: 200, contentType: "application/x-ndjson" },
    errors: ["not_found", "engine_version_mismatch"],
  },
  storeTapeBody: {
    method: "POST",
    path: "/v1/host/assay/tapes/{runId}/bodies",
    summary: "Store a body that the tape of a run names. One that holds a secret is refused.",
    access: "runs:create",
    body: StoreBodyRequest,
    takesTape: true,
    idempotent: "one",
    success: { status: 201, schema: StoreBodyResponse },
    errors: ["not_found", "engine_version_mismatch", "run_version_conflict", "tape_body_refused", "tape_body_secret"],
  },
  getTapeBody: {
    method: "GET",
    path: "/v1/host/assay/tapes/{runId}/bodies/{hash}",
    summary: "A body that the tape of a run names.",
    access: "runs:read",
    success: { status: 200, contentType: "*/*" },
    errors: ["not_found", "engine_version_mismatch"],
  },
  pushSidecar: {
    method: "POST",
    path: "/v1/host/assay/tapes/{runId}/sidecar",
    summary:
      "Make judgments of the rows of a sidecar. What is here already stays as it is; all rows are taken or none.",
    access: "runs:annotate",
    capability: "feedback",
    body: PushSidecarRequest,
    takesTape: true,
    idempotent: "many",
    success: { status: 200, schema: PushSidecarResponse },
    errors: [
      "not_found",
      "engine_version_mismatch",
      "sidecar_unreadable",
      "sidecar_refused",
      "annotation_conflict",
      "tape_conflict",
    ],
  },
  pullSidecar: {
    method: "GET",
    path: "/v1/host/assay/tapes/{runId}/sidecar",
    summary:
      "The sidecar of a run: the file that was pushed, byte for byte where nothing changed, and later judgments.",
    access: "runs:read",
    capability: "feedback",
    success: { status: 200, contentType: "text/plain" },
    errors: ["not_found", "engine_version_mismatch"],
  },
  listPastRows: {
    method: "GET",
    path: "/v1/host/assay/tapes/{runId}/sidecar/past",
    summary: "Lines of the sidecar of a run that were replaced or retracted, so that they are not taken for new ones.",
    access: "runs:read",
    capability: "feedback",
    success: { status: 200, schema: PastRows },
    errors: ["not_found", "engine_version_mismatch"],
  },
});
