// @ts-check
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { COST_USD, TASK_IDS, UNDISTURBED } from "./setting.js";

/**
 * @typedef {import("./deeds.js").Begun} Begun
 * @typedef {import("../verify.js").LoggedEvent} LoggedEvent
 * @typedef {(what: string, details?: object) => void} Wrong
 *
 * @typedef {object} Calls what the program's traces tell
 * @property {number} made
 * @property {number} again of a trial that had been called before
 * @property {number} late after the task had its score
 */

/** Clocks of one machine, read by two programs. */
const CLOCK_MS = 2;

/**
 * Started once, each task scored once, completed once; the figures are those of its log and of an evaluation that nothing disturbed; and no task was
 * run that had its score.
 * @param {Begun} begun
 * @param {readonly LoggedEvent[]} log
 * @param {any} summary
 * @param {string} traces
 * @param {Wrong} wrong
 * @returns {Calls}
 */
export function checkEvaluation(begun, log, summary, traces, wrong) {
  const of = (/** @type {string} */ type) => log.filter((event) => event.type === type);
  const ended = log.at(-1)?.type ?? "";
  const scored = of("eval.scored");
  const ids = scored.map(({ payload }) => payload.taskId);
  if (new Set(ids).size !== ids.length) wrong("a task was scored twice", { ids });
  if (of("eval.started").length !== (ids.length > 0 ? 1 : of("eval.started").length)) wrong("not started once");
  checkBrackets(log, wrong);
  checkBudget(begun, log, wrong);
  if (ended === "run.completed") {
    checkFigures(of("eval.completed"), scored, summary, wrong);
    if ([...ids].sort().join() !== [...TASK_IDS].sort().join()) wrong("a task was left out", { ids });
  } else if (ended === "run.cancelled" ? !begun.cancelAsked : begun.budgetUsd === undefined) {
    wrong("an evaluation ended otherwise than it could", { end: log.at(-1) });
  }
  return callsOf(begun, scored, traces);
}

/**
 * Every invocation is a whole: it begins, ends and is followed by its task's score before another task's.
 * @param {readonly LoggedEvent[]} log
 * @param {Wrong} wrong
 */
function checkBrackets(log, wrong) {
  /** @type {string | undefined} */
  let open;
  for (const { type, payload } of log) {
    if (type === "agent.invocation.started") {
      if (open !== undefined) wrong("an invocation in an invocation", { open });
      open = payload.invocationId;
    } else if (type === "agent.invocation.completed") {
      if (open !== payload.invocationId) wrong("an invocation ended that had not begun", { payload });
      open = undefined;
    }
  }
  if (open !== undefined) wrong("an invocation without an end", { open });
}

/**
 * @param {readonly LoggedEvent[]} completed
 * @param {readonly LoggedEvent[]} scored
 * @param {any} summary
 * @param {Wrong} wrong
 */
function checkFigures(completed, scored, summary, wrong) {
  const passedCount = scored.filter(({ payload }) => payload.passed).length;
  const aggregateScore = scored.reduce((sum, { payload }) => sum + payload.score, 0) / scored.length;
  const counted = { taskCount: scored.length, passedCount, aggregateScore };
  for (const figures of [counted, completed[0]?.payload, summary]) {
    const { taskCount, passedCount: passes, aggregateScore: score } = figures ?? {};
    const told = JSON.stringify({ taskCount, passedCount: passes, aggregateScore: score });
    if (told !== JSON.stringify(UNDISTURBED)) wrong("figures differ from those of an undisturbed evaluation", { told });
  }
  if (completed.length !== 1) wrong("an evaluation that did not complete once");
  const tasks = summary?.tasks?.map((/** @type {{ taskId: string }} */ { taskId }) => taskId).join();
  if (tasks !== TASK_IDS.join()) wrong("a summary out of order", { tasks });
}

/**
 * @param {Begun} begun
 * @param {readonly LoggedEvent[]} log
 * @param {Wrong} wrong
 */
function checkBudget({ budgetUsd, concurrency, trials }, log, wrong) {
  const costs = log.filter(({ type }) => type === "provider.usage").map(({ payload }) => payload.costEstimateUsd);
  const spent = costs.reduce((sum, cost) => sum + cost, 0);
  if (budgetUsd === undefined) return;
  // Whoever is under way when it is spent comes to the end of the task.
  if (spent > budgetUsd + concurrency * trials * COST_USD + 1e-9) wrong("more was spent than was under way", { spent });
  const { type, payload } = /** @type {LoggedEvent} */ (log.at(-1));
  if (type === "run.failed" && payload.error.code !== "eval_budget_exceeded") wrong("failed otherwise", payload);
  if (type === "run.completed") wrong("an evaluation completed beyond its budget", { spent });
}

/**
 * @param {Begun} begun
 * @param {readonly LoggedEvent[]} scored
 * @param {string} traces
 * @returns {Calls}
 */
function callsOf({ runId, trials }, scored, traces) {
  const calls = { made: 0, again: 0, late: 0 };
  for (const taskId of TASK_IDS) {
    const event = scored.find(({ payload }) => payload.taskId === taskId);
    const doneMs = event === undefined ? Number.POSITIVE_INFINITY : Date.parse(event.timestamp);
    for (let trial = 1; trial <= trials; trial++) {
      const began = tracesIn(join(traces, `${runId}.${taskId}.${trial}`));
      calls.made += began.length;
      calls.again += Math.max(0, began.length - 1);
      calls.late += began.filter((ms) => ms > doneMs + CLOCK_MS).length;
    }
  }
  return calls;
}

/**
 * @param {string} file
 * @returns {number[]} when each call began, in milliseconds
 */
export function tracesIn(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => Number(line) / 1e6);
}
