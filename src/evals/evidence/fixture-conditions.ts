import type { EvidenceDemand } from "../../agents/deployments/evidence.ts";
import type { AgentEvalSuite, EvalMode } from "../../protocol/evals/eval-suite.ts";
import type { Condition } from "../../protocol/promotion/evidence.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import type { TaskResult } from "../run/task-result.ts";

/** Tasks that a condition names; more are counted only. */
const NAMED_MAX = 10;

/**
 * Whether the agent worked with the tools and the memory of the suite. Live ones answer something else, and what the agent remembers
 * may come from these very tasks; fixtures that were never used say nothing about the agent.
 */
export function aboutSurroundings(
  { modes }: Pick<EvalPlan, "modes">,
  suite: Pick<AgentEvalSuite, "modes" | "tasks">,
  results: readonly TaskResult[],
  { allowUnusedFixtures = false, evidence }: Pick<EvidenceDemand, "allowUnusedFixtures" | "evidence"> = {},
): Condition[] {
  if (suite.modes.every(isLive)) return [];
  // Live tools and memory count only for a policy or gate that names the mode.
  if (modes.some(isLive) && evidence?.modes?.some(isLive) !== true) {
    return [condition("live ones, by mode live-shadow", false)];
  }
  if (modes.every(isLive)) return [condition("live ones, by mode live-shadow, which the evidence names", true)];
  const declaring = new Set(suite.tasks.flatMap((task) => (declaresFixtures(task) ? [task.taskId] : [])));
  const unused = results.filter(({ fixturesUnused = [] }) => fixturesUnused.length > 0);
  const unknown = results.filter((one) => one.fixturesUnused === undefined && declaring.has(one.taskId));
  const problems = [
    ...(unused.length === 0 ? [] : [`fixtures of ${counted(unused)} were never used: ${named(unused)}`]),
    ...(unknown.length === 0
      ? []
      : [`whether fixtures of ${counted(unknown)} were used was not recorded: ${named(unknown)}; evaluate it again`]),
  ];
  if (problems.length === 0) return [condition("those", true)];
  const allowed = allowUnusedFixtures ? "; allowed by allowUnusedFixtures" : "";
  return [condition(`${problems.join("; ")}${allowed}`, allowUnusedFixtures)];
}

function isLive(mode: EvalMode): boolean {
  return mode === "live-shadow";
}

function declaresFixtures({ fixtures }: AgentEvalSuite["tasks"][number]): boolean {
  return (fixtures?.toolResponses ?? []).length > 0 || (fixtures?.memorySeed ?? []).length > 0;
}

function condition(found: string, met: boolean): Condition {
  return { condition: "tools and memory", wanted: "those of the suite", found, met };
}

function counted({ length }: readonly TaskResult[]): string {
  return length === 1 ? "1 task" : `${length} tasks`;
}

function named(results: readonly TaskResult[]): string {
  const more = results.length > NAMED_MAX ? ", …" : "";
  return `${results
    .slice(0, NAMED_MAX)
    .map(({ taskId }) => taskId)
    .join(", ")}${more}`;
}
