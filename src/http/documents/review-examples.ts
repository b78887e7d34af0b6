import type { REVIEW_OPERATIONS } from "../../protocol/reviews/operations.ts";

/** Short bodies to try the routes of reviews with. */
export const REVIEW_EXAMPLES: Partial<Record<keyof typeof REVIEW_OPERATIONS, unknown>> = {
  runReview: {
    protocol_version: "1.2",
    iteration: 1,
    artifact: { media_type: "text/markdown", content: "# Plan\n\nTODO: write it\n" },
  },
  annotateRemark: { runId: "run-01k2v6w0d9q3c5x7m8n4p2r1st" },
};
