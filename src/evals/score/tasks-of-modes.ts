import type { AgentEvalSuite, EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";

/** The tasks that a run in these modes has: golden and rubric take those of their kind, every other mode takes all. */
export function tasksOfModes({ tasks }: Pick<AgentEvalSuite, "tasks">, modes: readonly EvalMode[]): EvalTask[] {
  return tasks.filter((task) => modesOfTask(task, modes).length > 0);
}

/** The modes that run the task: each is a pass of its own. */
export function modesOfTask({ expected }: Pick<EvalTask, "expected">, modes: readonly EvalMode[]): EvalMode[] {
  return modes.filter((mode) => !isKind(mode) || mode === expected.kind);
}

function isKind(mode: EvalMode): mode is "golden" | "rubric" {
  return mode === "golden" || mode === "rubric";
}
