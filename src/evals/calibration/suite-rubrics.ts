import { canonicalJson } from "../../formats/json/canonical-json.ts";
import type { AgentEvalSuite, RubricCriterion } from "../../protocol/evals/eval-suite.ts";
import { taskBar } from "../score/task-bar.ts";

/** The criteria by which a judge passes an output, and how many of them must be met. */
export interface SuiteRubric {
  readonly rubric: readonly RubricCriterion[];
  readonly bar: number;
}

/** The rubric of each task. */
export function rubricsByTask(suite: Pick<AgentEvalSuite, "tasks" | "thresholds">): ReadonlyMap<string, SuiteRubric> {
  return new Map(
    suite.tasks.flatMap((task) => {
      const { taskId, expected } = task;
      if (expected.kind !== "rubric") return [];
      return [[taskId, { rubric: expected.rubric, bar: taskBar(task, suite.thresholds) }] as const];
    }),
  );
}

/** The different ones a suite has, in an order that does not depend on that of its tasks. */
export function rubricsOf(suite: Pick<AgentEvalSuite, "tasks" | "thresholds">): SuiteRubric[] {
  const different = new Map([...rubricsByTask(suite).values()].map((one) => [rubricKey(one), one]));
  return [...different.keys()].sort().flatMap((key) => different.get(key) ?? []);
}

export function rubricKey({ rubric, bar }: SuiteRubric): string {
  return canonicalJson({ rubric, bar });
}
