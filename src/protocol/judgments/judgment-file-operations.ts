import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { AnnotationFilter } from "./annotation-api.ts";
import { ImportRequest, ImportResponse, JudgmentLine } from "./judgment-file.ts";

const FEEDBACK = { capability: "feedback", off: "capability_not_provided" } as const;

/** Export and import of judgments, for other hosts and for tools. */
export const JUDGMENT_FILE_OPERATIONS = {
  exportJudgments: {
    method: "GET",
    path: "/v1/host/assay/annotations:export",
    tag: "annotations",
    summary: "Judgments with their whole history, oldest first, as JSON lines of any number.",
    access: "runs:read",
    gate: FEEDBACK,
    query: AnnotationFilter,
    success: { status: 200, contentType: "application/x-ndjson", line: JudgmentLine },
    errors: [...PROTECTED, "validation_error", "capability_not_provided"],
  },
  importJudgments: {
    method: "POST",
    path: "/v1/host/assay/annotations:import",
    tag: "annotations",
    summary: "Import lines of an export, in one commit. Judgments that exist are left, or brought up to date.",
    access: "judgments:import",
    gate: FEEDBACK,
    body: ImportRequest,
    idempotent: "one",
    success: { status: 200, schema: ImportResponse },
    errors: [
      ...PROTECTED,
      ...KEYED,
      ...BODY,
      "judgment_format_unsupported",
      "judgment_file_incomplete",
      "annotation_conflict",
      "capability_not_provided",
    ],
  },
} as const satisfies Record<string, Operation>;
