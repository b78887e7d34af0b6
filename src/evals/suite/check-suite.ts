import {
  EVAL_MODES,
  type EvalMode,
  MODEL_CLASSES,
  NAME_LENGTH_MAX,
  SUITE_ID_PATTERN,
  SUITE_VERSION_PATTERN,
} from "../../protocol/evals/eval-suite.ts";
import { checkTask, type SeenTask } from "./check-task.ts";
import type { ProblemList } from "./suite-problem.ts";
import { checkName, checkNumber, checkText, checkWords, fieldsOf, listOf } from "./validate-fields.ts";

const SUITE = {
  required: ["suiteId", "version", "modes", "tasks"],
  optional: ["targetAgentId", "allowedModels", "thresholds"],
};
const SUITE_ID = {
  pattern: new RegExp(SUITE_ID_PATTERN),
  max: NAME_LENGTH_MAX,
  form: 'a name like "acme.support.evals.refunds": small letters, digits, dots and hyphens, with ".evals." before the last part',
};
const VERSION = {
  pattern: new RegExp(SUITE_VERSION_PATTERN),
  max: 64,
  form: 'three numbers with dots between them, like "1.0.0"',
};

/**
 * Takes down all that is wrong with a suite at once. When nothing is, the value has the form of `AgentEvalSuite`. Written out and
 * not left to the schema, which stops after a few problems and does not know what to do about them.
 */
export function checkSuite(value: unknown, found: ProblemList): void {
  const suite = fieldsOf(found, "", value, SUITE);
  if (suite === undefined) return;
  const { suiteId, version, targetAgentId, modes, allowedModels, thresholds, tasks } = suite;
  if (suiteId !== undefined) checkName(found, "/suiteId", suiteId, SUITE_ID);
  if (version !== undefined) checkName(found, "/version", version, VERSION);
  if (targetAgentId !== undefined) checkAgentId(found, targetAgentId);
  const declared = modes === undefined ? [] : checkWords(found, "/modes", modes, EVAL_MODES, { atLeastOne: true });
  if (allowedModels !== undefined) {
    checkWords(found, "/allowedModels", allowedModels, MODEL_CLASSES, { atLeastOne: false });
  }
  if (thresholds !== undefined) checkThresholds(found, thresholds);
  if (tasks !== undefined) checkTasks(found, tasks, declared);
}

function checkAgentId(found: ProblemList, value: unknown): void {
  if (!checkText(found, "/targetAgentId", value, "the id of the agent")) return;
  if (value.length <= NAME_LENGTH_MAX) return;
  found.add("bad_name", "/targetAgentId", `is longer than ${NAME_LENGTH_MAX} characters`, "Write the id of the agent.");
}

function checkThresholds(found: ProblemList, value: unknown): void {
  const bars = fieldsOf(found, "/thresholds", value, {
    required: [],
    optional: ["passScore", "maxCostUsd", "maxP95LatencyMs"],
  });
  if (bars === undefined) return;
  const { passScore, maxCostUsd, maxP95LatencyMs } = bars;
  if (passScore !== undefined) checkNumber(found, "/thresholds/passScore", passScore, { max: 1 });
  if (maxCostUsd !== undefined) checkNumber(found, "/thresholds/maxCostUsd", maxCostUsd, {});
  if (maxP95LatencyMs !== undefined) {
    checkNumber(found, "/thresholds/maxP95LatencyMs", maxP95LatencyMs, { whole: true });
  }
}

function checkTasks(found: ProblemList, value: unknown, modes: readonly EvalMode[]): void {
  const seen = new Map<string, number>();
  const tasks: SeenTask[] = [];
  listOf(found, "/tasks", value, { atLeastOne: true, of: "a task" }).forEach((task, i) => {
    const { taskId, kind } = checkTask(found, `/tasks/${i}`, task);
    tasks.push({ taskId, kind });
    if (taskId === undefined) return;
    const first = seen.get(taskId);
    if (first === undefined) seen.set(taskId, i);
    else {
      const problem = `is the name of /tasks/${first} already`;
      found.add("repeated_task", `/tasks/${i}/taskId`, problem, "Give each task a name of its own.");
    }
  });
  checkCoverage(found, tasks, modes);
}

/** These take tasks of either kind. */
const ANY_KIND: readonly EvalMode[] = ["adversarial", "regression", "live-shadow"];

/**
 * A task that no mode runs is an error: it looks like a test and is none. A mode without a task is a warning, since an evaluation
 * without tasks is refused.
 */
function checkCoverage(found: ProblemList, tasks: readonly SeenTask[], modes: readonly EvalMode[]): void {
  // Tasks that could not be read might be of either kind; they have been reported already.
  if (tasks.length === 0 || modes.length === 0 || tasks.some(({ kind }) => kind === undefined)) return;
  for (const kind of ["golden", "rubric"] as const) {
    const at = modes.indexOf(kind);
    if (at >= 0 && tasks.every((task) => task.kind !== kind)) {
      const fix = `Add a task whose "expected" has the kind "${kind}", or take "${kind}" out of "modes".`;
      found.add("mode_without_task", "/modes", `names "${kind}", and no task is of that kind`, fix);
    }
  }
  if (modes.some((mode) => ANY_KIND.includes(mode))) return;
  tasks.forEach(({ kind }, i) => {
    if (kind === undefined || modes.includes(kind)) return;
    const fix = `Add "${kind}" to "modes", or take the task out.`;
    found.add(
      "task_without_mode",
      `/tasks/${i}/expected`,
      `is of the kind "${kind}", which no mode of the suite runs`,
      fix,
    );
  });
}
