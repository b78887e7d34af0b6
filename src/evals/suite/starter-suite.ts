import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";

/** Something to begin with: each way to compare an output once, and a task with fixtures. It runs as it is, with any agent. */
export function starterSuite(suiteId = "local.example.evals.starter"): AgentEvalSuite {
  return {
    suiteId,
    version: "0.1.0",
    modes: ["golden", "regression"],
    thresholds: { passScore: 0.75 },
    tasks: [
      {
        taskId: "says-the-capital",
        input: { question: "What is the capital of France? Answer with the name alone." },
        expected: { kind: "golden", match: { strategy: "exact", value: "Paris" } },
      },
      {
        taskId: "names-the-refund-window",
        input: { question: "How long may I return an order?" },
        expected: { kind: "golden", match: { strategy: "contains", value: "30 days" } },
      },
      {
        taskId: "reads-an-order",
        input: { text: "Two blue mugs, please, to be sent to Ada." },
        expected: {
          kind: "golden",
          match: { strategy: "json-match", value: { item: "mug", colour: "blue", count: 2, to: "Ada" } },
        },
      },
      {
        taskId: "looks-up-the-customer",
        input: { question: "Which plan does customer 7 have?" },
        expected: { kind: "golden", match: { strategy: "contains", value: "Pro" } },
        fixtures: {
          toolResponses: [{ tool: "crm:find-customer", response: { id: 7, name: "Ada", plan: "Pro" } }],
          memorySeed: [{ content: "Customer 7 likes short answers." }],
        },
      },
    ],
  };
}
