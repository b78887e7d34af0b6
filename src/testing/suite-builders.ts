import { AgentEvalSuite, EvalTask } from "../protocol/evals/eval-suite.ts";
import { parse } from "../protocol/schema.ts";

/** A suite of one golden task; `more` replaces members. */
export function evalSuite(more: Partial<AgentEvalSuite> = {}): AgentEvalSuite {
  const suite = {
    suiteId: "acme.support.evals.refunds",
    version: "1.0.0",
    modes: ["golden"],
    tasks: [goldenTask("greets")],
    ...more,
  };
  return parse(AgentEvalSuite, suite, "suite");
}

export function goldenTask(taskId: string, more: Partial<EvalTask> = {}): EvalTask {
  const expected = { kind: "golden", match: { strategy: "exact", value: "hello" } };
  return parse(EvalTask, { taskId, input: { name: "Ada" }, expected, ...more }, "task");
}

export function rubricTask(taskId: string, more: Partial<EvalTask> = {}): EvalTask {
  const rubric = [
    { criterion: "names the window of 30 days", weight: 0.75 },
    { criterion: "is polite", weight: 0.25 },
  ];
  return parse(EvalTask, { taskId, input: "May I return it?", expected: { kind: "rubric", rubric }, ...more }, "task");
}
