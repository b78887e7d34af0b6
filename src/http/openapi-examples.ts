import type { OperationId } from "../protocol/operations.ts";
import { QUEUE_EXAMPLES } from "./queue-examples.ts";
import { REVIEW_EXAMPLES } from "./review-examples.ts";
import { TAPE_EXAMPLES } from "./tape-examples.ts";

/** Short bodies to try a route with. */
export const REQUEST_EXAMPLES: Partial<Record<OperationId, unknown>> = {
  createRun: { workflowId: "greet", inputs: { name: "Ada" }, tags: ["trial"] },
  cancelRun: { reason: "no longer needed" },
  bulkCancelRuns: { runIds: ["run-01k2v6w0d9q3c5x7m8n4p2r1st"] },
  pauseRun: { drainPolicy: "drain-current-node" },
  resumeRun: {},
  registerWorkflow: {
    id: "greet",
    name: "Greet",
    version: "1.0.0",
    nodes: [
      {
        id: "hello",
        typeId: "core.noop",
        name: "Hello",
        position: { x: 0, y: 0 },
        config: {},
        inputs: {},
      },
    ],
    edges: [],
    triggers: [{ id: "manual", type: "manual", name: "By hand", config: {} }],
    variables: [],
    metadata: {},
    settings: { timeout: 0 },
  },
  forkRun: { mode: "branch", fromSeq: 1, runOptionsOverlay: { inputs: { name: "Grace" }, tags: ["second-try"] } },
  forkRunBecause: { mode: "replay", fromSeq: 0 },
  resolveInterrupt: { resumeValue: { action: "accept", feedback: "Reads well." } },
  resolveInterruptByToken: { resumeValue: { action: "accept" } },
  sendExternalEvent: {
    eventType: "payment.settled",
    eventId: "evt-1",
    correlation: { orderId: 7 },
    payload: { amount: 12 },
    holdSeconds: 60,
  },
  registerWebhook: { url: "https://hooks.example.com/assay", events: ["run.completed", "approval.*"] },
  redeliver: {},
  defineRole: { role: "release-manager", scopes: ["runs:read", "approvals:respond"] },
  setPrincipal: { roles: ["reviewer"], groups: ["legal"] },
  decideInbox: {
    items: [{ interruptId: "int-01k2v6w0d9q3c5x7m8n4p2r1st", resumeValue: { action: "accept", feedback: "Fine." } }],
  },
  createAnnotation: { signal: { kind: "rating", rating: 4 }, note: "Right, but long." },
  annotateRun: { signal: { kind: "correction", correction: "Hello, Ada!" }, note: "What I would have written." },
  retractAnnotation: { reason: "I looked at the wrong run." },
  closeFlag: { note: "It was right after all." },
  pushSidecar: {
    sidecar: '{"type":"header","schema_version":1}\n{"type":"annotation","id":"a1","event_id":0,"kind":"correct"}\n',
    dryRun: true,
  },
  ...QUEUE_EXAMPLES,
  ...TAPE_EXAMPLES,
  ...REVIEW_EXAMPLES,
  calibrateJudge: { suite: "acme.support.evals.tone@1.0.0", runIds: ["run-01k2v6w0d9q3c5x7m8n4p2r1st"] },
  judgeEvalTask: { label: "pass", note: "Other words, and as right." },
  addTaskFromRun: { runId: "run-01k2v6w0d9q3c5x7m8n4p2r1st", suite: "acme.support.evals.refunds" },
  transitionDeployment: { version: "1.0.0", transition: "promote", toState: "test" },
  putPolicy: { promote: { active: { gate: { requiredRole: "admin", quorum: 2 } } } },
  setBaseline: { runId: "run-01k2v6w0d9q3c5x7m8n4p2r1st" },
  putSuite: {
    suiteId: "acme.support.evals.refunds",
    version: "1.0.0",
    modes: ["golden"],
    tasks: [
      {
        taskId: "refund-window",
        input: { question: "How long may I return it?" },
        expected: { kind: "golden", match: { strategy: "contains", value: "30 days" } },
      },
    ],
  },
  createKey: { principal: "ci", kind: "agent", roles: ["reviewer"], scopes: ["runs:read", "runs:annotate"] },
  importJudgments: {
    lines: [
      { type: "header", format: "assay-judgments", version: 1 },
      {
        type: "annotation",
        annotationId: "ann-01k2v6w0d9q3c5x7m8n4p2r1st",
        target: { runId: "run-01k2v6w0d9q3c5x7m8n4p2r1st" },
        signal: { kind: "rating", rating: 4 },
        actor: { principalRef: "ada" },
        createdAt: "2027-03-01T12:00:00.000Z",
        workflowId: "greet",
        actorKind: "person",
        state: "live",
      },
      { type: "end", count: 1 },
    ],
  },
};
