import { type Operation, PROTECTED } from "../operation.ts";
import { FeedbackSummary, FeedbackSummaryQuery } from "./feedback-api.ts";

/** Figures of judgments. */
export const FEEDBACK_OPERATIONS = {
  getFeedbackSummary: {
    method: "GET",
    path: "/v1/host/assay/feedback/summary",
    tag: "annotations",
    summary:
      "How runs that ended in a period were judged: ratings, corrections, flags, labels, and rates with intervals.",
    access: "runs:read",
    gate: { capability: "feedback", off: "capability_not_provided" },
    query: FeedbackSummaryQuery,
    success: { status: 200, schema: FeedbackSummary },
    errors: [...PROTECTED, "validation_error", "capability_not_provided"],
  },
} as const satisfies Record<string, Operation>;
