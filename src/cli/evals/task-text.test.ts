import { expect, test } from "vitest";
import type { EvalTaskBodies } from "../../protocol/evals/eval-task-bodies.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { taskText } from "./task-text.ts";

const TASK: EvalTaskBodies = {
  runId: "run-1",
  suiteId: "acme.evals.tone",
  suiteVersion: "1.0.0",
  agentId: "local.acme.x",
  resolvedAgentVersion: "1.0.0",
  taskId: "hello",
  input: { name: "Ada" },
  expected: { kind: "rubric", rubric: [{ criterion: "It is polite.", weight: 1 }] },
  fixtures: {
    toolResponses: [{ tool: "crm:find", response: { none: true } }],
    memorySeed: [{ content: "Ada is polite." }],
  },
  score: 0,
  passed: false,
  bar: 0.7,
  trials: [
    {
      trial: 1,
      mode: "rubric",
      invocationId: "inv-1",
      passed: false,
      score: 0,
      retries: 1,
      cached: true,
      latencyMs: 12,
      output: "Go\u001b[2J away.",
      toolCalls: [{ tool: "crm:find", result: { none: true } }],
      toolCallsLeftOut: 3,
      criteria: [{ criterion: "It is polite.", met: false, evidence: "Go away." }],
      findings: [{ kind: "other", severity: "high", by: "judge", note: "rude" }],
    },
  ],
};

test("a task with a rubric is shown with the judge's verdicts and findings, and what others wrote moves no cursor", () => {
  const text = taskText(TASK, recordedIo().paint);
  for (const part of [
    "Expected (rubric)\n  1  It is polite.\n",
    'Fixtures\n  crm:find → {"none":true}\n  memory {"content":"Ada is polite."}\n',
    "Trial 1 of mode rubric  score 0,",
    "tried 2 times, from the cache",
    "  Output\n    Go\ufffd[2J away.\n",
    '    1. crm:find\n       → {"none":true}\n    … and 3 more calls that were not kept\n',
    "  Judge\n    ✗ It is polite.: Go away.\n",
    "  Findings\n    other (high), noticed by judge: rude",
  ]) {
    expect(text).toContain(part);
  }
});
