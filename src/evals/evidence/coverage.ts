import { validationError } from "../../protocol/errors.ts";
import type { AgentEvalSuite, EvalMode } from "../../protocol/evals/eval-suite.ts";
import type { Condition, EvidenceCoverage } from "../../protocol/promotion/evidence.ts";
import { tasksOfModes } from "../run/chosen-modes.ts";
import type { EvalPlan } from "../run/eval-plan.ts";

/** Modes that are asked for only by name: regression needs a baseline, live-shadow needs live tools. */
const BY_NAME: readonly EvalMode[] = ["regression", "live-shadow"];
const NAMES_SHOWN = 10;

export function condition(name: string, wanted: string, found: string, met: boolean): Condition {
  return { condition: name, wanted, found, met };
}

export function neededModes(
  { modes }: Pick<AgentEvalSuite, "modes">,
  named?: readonly EvalMode[],
): readonly EvalMode[] {
  return named ?? modes.filter((mode) => !BY_NAME.includes(mode));
}

function neededTasks(suite: AgentEvalSuite, { modes, tasks }: EvidenceCoverage): readonly string[] {
  if (tasks !== undefined) return tasks;
  const all = modes === undefined ? suite.tasks : tasksOfModes(suite, modes);
  return all.map(({ taskId }) => taskId);
}

/** Tasks that the evaluation must have run. A selection that passes proves nothing about the tasks that were left out. */
export function aboutTasks(
  { taskIds }: Pick<EvalPlan, "taskIds">,
  suite: AgentEvalSuite | undefined,
  coverage: EvidenceCoverage = {},
): Condition {
  const name = coverage.tasks === undefined && coverage.modes === undefined ? "all tasks" : "tasks";
  if (suite === undefined) {
    return condition(
      name,
      "all tasks of the suite",
      "the suite is not here with the content that was evaluated",
      false,
    );
  }
  const needed = neededTasks(suite, coverage);
  const ran = new Set(taskIds);
  const missing = needed.filter((taskId) => !ran.has(taskId));
  const wanted = coverage.tasks === undefined ? `${needed.length} tasks` : listed(needed);
  return condition(name, wanted, `${taskIds.length} tasks${without("tasks", missing)}`, missing.length === 0);
}

/** Names what is missing, and the two ways to meet the condition. */
export function without(what: "modes" | "tasks", missing: readonly string[]): string {
  if (missing.length === 0) return "";
  return ` without ${listed(missing)} (evaluate them too, or name the ${what} that suffice in requiredEval.evidence.${what})`;
}

function listed(names: readonly string[]): string {
  const left = names.length - NAMES_SHOWN;
  return left > 0 ? `${names.slice(0, NAMES_SHOWN).join(", ")} and ${left} more` : names.join(", ");
}

/** Refuses modes and tasks that no evaluation with this suite could have. */
export function checkCoverage(suite: AgentEvalSuite, { modes, tasks = [] }: EvidenceCoverage = {}): void {
  const { suiteId, version } = suite;
  const mode = modes?.find((one) => !suite.modes.includes(one));
  if (mode !== undefined) {
    throw validationError(
      `evidence.modes names ${mode}, which suite ${suiteId}@${version} does not declare; it declares ${suite.modes.join(", ")}`,
    );
  }
  const known = new Set(suite.tasks.map(({ taskId }) => taskId));
  const unknown = tasks.filter((taskId) => !known.has(taskId));
  if (unknown.length > 0) {
    throw validationError(`evidence.tasks names ${listed(unknown)}, which suite ${suiteId}@${version} does not have`);
  }
  const reached = new Set(tasksOfModes(suite, modes ?? suite.modes).map(({ taskId }) => taskId));
  const apart = tasks.filter((taskId) => !reached.has(taskId));
  if (apart.length > 0)
    throw validationError(`evidence.tasks names ${listed(apart)}, which none of the modes of the evidence has`);
  if (reached.size === 0)
    throw validationError(`no task of suite ${suiteId}@${version} has one of the modes of the evidence`);
}
