import type { AgentEvalSuite, EvalMode, EvalTask } from "../../protocol/eval-suite.ts";

/** The tasks that a run in these modes has: golden and rubric take those of their kind, every other mode takes all. */
export function tasksOfModes({ tasks }: Pick<AgentEvalSuite, "tasks">, modes: readonly EvalMode[]): EvalTask[] {
  return tasks.filter(({ expected }) => modes.some((mode) => !isKind(mode) || mode === expected.kind));
}

function isKind(mode: EvalMode): mode is "golden" | "rubric" {
  return mode === "golden" || mode === "rubric";
}
