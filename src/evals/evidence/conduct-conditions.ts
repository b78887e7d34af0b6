import type { EvidenceDemand } from "../../agents/deployments/evidence.ts";
import { isDisqualifying } from "../../protocol/agents/severity.ts";
import type { AgentEvalSuite, EvalMode } from "../../protocol/evals/eval-suite.ts";
import type { Condition } from "../../protocol/promotion/evidence.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import type { TaskOutcome } from "../run/task-result.ts";
import { condition, neededModes, without } from "./coverage.ts";

/**
 * Modes that the evaluation must have run: those that the policy or gate names, else all modes of the suite. A suite with tests of
 * unsafe conduct is incomplete where the mode of these tests did not run.
 */
export function aboutModes(
  { modes }: Pick<EvalPlan, "modes">,
  suite: Pick<AgentEvalSuite, "modes">,
  named?: readonly EvalMode[],
): Condition[] {
  const needed = neededModes(suite, named);
  if (needed.length === 0) return [];
  const missing = needed.filter((mode) => !modes.includes(mode));
  const name = named === undefined ? "all modes" : "modes";
  const found = `${modes.join(", ")}${without("modes", missing)}`;
  return [condition(name, needed.join(", "), found, missing.length === 0)];
}

/**
 * Conduct that no score shows: results that were not measured, trials that the score leaves out, and data that an agent revealed
 * in a correct answer.
 */
export function aboutConduct({ taskIds }: Pick<EvalPlan, "taskIds">, results: readonly TaskOutcome[]): Condition[] {
  const trials = results.flatMap((one) => one.trials);
  const cached = trials.filter((one) => one.cached).length;
  // A task without a scored trial counts as 0; in a task with one, errored trials do not lower the score.
  const silent = results.flatMap((one) => (isScored(one) ? one.trials.filter(({ score }) => score === undefined) : []));
  const unsafe = results.filter(({ findings }) => findings.some(isDisqualifying)).length;
  return [
    condition("results", `of ${taskIds.length} tasks`, `of ${results.length} tasks`, results.length === taskIds.length),
    condition("trials made", "each in this evaluation", `${trials.length - cached} of ${trials.length}`, cached === 0),
    condition(
      "trials scored",
      "each of a task that has a score",
      silent.length === 0 ? "each" : `${silent.length} of ${trials.length} ended in an error and are left out of it`,
      silent.length === 0,
    ),
    condition(
      "safety findings",
      "none that is high or critical",
      unsafe === 0 ? "none" : `in ${unsafe} tasks`,
      unsafe === 0,
    ),
  ];
}

function isScored({ trials }: TaskOutcome): boolean {
  return trials.some(({ score }) => score !== undefined);
}

/** Tasks that a condition names; more are counted only. */
const NAMED_MAX = 10;

/**
 * Whether the agent worked with the tools and the memory of the suite. Live ones answer something else, and what the agent remembers
 * may come from these very tasks; fixtures that were never used say nothing about the agent.
 */
export function aboutSurroundings(
  { modes }: Pick<EvalPlan, "modes">,
  suite: Pick<AgentEvalSuite, "modes" | "tasks">,
  results: readonly TaskOutcome[],
  { allowUnusedFixtures = false, evidence }: Pick<EvidenceDemand, "allowUnusedFixtures" | "evidence"> = {},
): Condition[] {
  if (suite.modes.every(isLive)) return [];
  // Live tools and memory count only for a policy or gate that names the mode.
  if (modes.some(isLive) && evidence?.modes?.some(isLive) !== true) {
    return [toolsAndMemory("live ones, by mode live-shadow", false)];
  }
  if (modes.every(isLive)) return [toolsAndMemory("live ones, by mode live-shadow, which the evidence names", true)];
  const declaring = new Set(suite.tasks.flatMap((task) => (declaresFixtures(task) ? [task.taskId] : [])));
  const unused = results.filter(({ fixturesUnused = [] }) => fixturesUnused.length > 0);
  const unknown = results.filter((one) => one.fixturesUnused === undefined && declaring.has(one.taskId));
  const problems = [
    ...(unused.length === 0 ? [] : [`fixtures of ${counted(unused)} were never used: ${named(unused)}`]),
    ...(unknown.length === 0
      ? []
      : [`whether fixtures of ${counted(unknown)} were used was not recorded: ${named(unknown)}; evaluate it again`]),
  ];
  if (problems.length === 0) return [toolsAndMemory("those", true)];
  const allowed = allowUnusedFixtures ? "; allowed by allowUnusedFixtures" : "";
  return [toolsAndMemory(`${problems.join("; ")}${allowed}`, allowUnusedFixtures)];
}

function isLive(mode: EvalMode): boolean {
  return mode === "live-shadow";
}

function declaresFixtures({ fixtures }: AgentEvalSuite["tasks"][number]): boolean {
  return (fixtures?.toolResponses ?? []).length > 0 || (fixtures?.memorySeed ?? []).length > 0;
}

function toolsAndMemory(found: string, met: boolean): Condition {
  return condition("tools and memory", "those of the suite", found, met);
}

function counted({ length }: readonly TaskOutcome[]): string {
  return length === 1 ? "1 task" : `${length} tasks`;
}

function named(results: readonly TaskOutcome[]): string {
  const ids = results.slice(0, NAMED_MAX).map(({ taskId }) => taskId);
  return `${ids.join(", ")}${results.length > NAMED_MAX ? ", …" : ""}`;
}
