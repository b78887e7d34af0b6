import type { QUEUE_OPERATIONS } from "../../protocol/queues/operations.ts";

/** Short bodies to try the routes of review queues with. */
export const QUEUE_EXAMPLES: Partial<Record<keyof typeof QUEUE_OPERATIONS, unknown>> = {
  createQueue: {
    name: "weekly",
    query: { workflowId: "greet", sample: 0.1 },
    judgment: { kind: "label", labels: ["pass", "fail"] },
    reviewersRequired: 2,
  },
  updateQueue: { revision: 1, description: "Is the greeting polite?", leaseSeconds: 600 },
  addQueueItems: { items: [{ runId: "run-01k2v6w0d9q3c5x7m8n4p2r1st" }] },
  nextQueueItem: {},
  judgeQueueItem: { value: "pass", note: "Polite, and it names her." },
  renewQueueItem: { leaseSeconds: 600 },
  releaseQueueItem: {},
  skipQueueItem: { reason: "I wrote the prompt." },
  requeueItem: { reason: "The question was unclear." },
  closeQueueItem: { reason: "A run of the load test." },
  adjudicateItem: { value: "fail", note: "It names somebody else." },
};
