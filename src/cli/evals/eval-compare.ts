import { figure, importedMark, taskState } from "../../formats/evals/eval-outcome.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import type { BaselineFile } from "../../protocol/evals/baselines.ts";
import type { Comparison, Verdict } from "../../protocol/evals/eval-statistics.ts";
import { compare } from "../../statistics/comparison.ts";
import type { TaskResult as ComparedTask } from "../../statistics/pair-tasks.ts";
import { isFlaky } from "../../statistics/rates.ts";
import type { Client } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { orNearest } from "../program/nearest-name.ts";
import { withBackend } from "./backend.ts";
import { isBaseline, isBaselineFile, loadBaselineFile, namedBaseline } from "./baselines.ts";
import type { EVAL_COMPARE_FLAGS } from "./commands.ts";
import { evalNamed, LATEST } from "./latest-eval.ts";
import { demandsOf, reportOf } from "./outcome.ts";

export async function evalCompare(call: Call<typeof EVAL_COMPARE_FLAGS>): Promise<number> {
  const { args, flags, json, io } = call;
  const [given = "", named = ""] = args;
  const { failOn, requireVerdict } = demandsOf(flags);
  if (failOn.some((what) => what !== "suspect")) throw unusableInput("--fail-on takes suspect here");
  const { candidate, baseline } = await withBackend(call, "reads", async ({ client }) => {
    const candidate = await wholeReport(client, await evalNamed(client, given, { status: "completed" }));
    return { candidate, baseline: await baselineSide(client, candidate, named) };
  });
  const { runId } = candidate;
  if (candidate.suiteSha256 !== baseline.suiteSha256) {
    const [one, other] = [candidate, baseline].map((side) => `${side.suiteId}@${side.suiteVersion}`);
    throw unusableInput(
      one === other
        ? `the two were made with other tasks under the name ${one}`
        : `${runId} is of suite ${one}, and ${baseline.runId} of ${other}`,
    );
  }
  const comparison = compare({ candidate: candidate.tasks, baseline: baseline.tasks }, { seed: candidate.seed });
  const { runId: baselineRunId, fileSha256: baselineFileSha256 } = baseline;
  if (json) io.out(JSON.stringify({ runId, baselineRunId, baselineFileSha256, comparison }));
  else io.out(comparisonText({ candidate, baseline }, comparison, io.paint));
  const { verdict } = comparison;
  if (verdict === "regressed" || (verdict === "suspect" && failOn.includes("suspect"))) return EXIT.negative;
  return requireVerdict && verdict === "not_enough_data" ? EXIT.noVerdict : EXIT.fine;
}

async function wholeReport(client: Client, runId: string): Promise<EvalReport> {
  const report = await reportOf(client, runId);
  if (report.complete) return report;
  throw unusableInput(`${runId} did not complete, and a part of the tasks cannot stand for all of them`);
}

/** The baseline of a comparison. Of an imported one only its file exists. */
async function baselineSide(client: Client, { suiteId }: EvalReport, named: string): Promise<ComparedSide> {
  if (isBaselineFile(named)) return fileSide(await loadBaselineFile(named));
  if (named.startsWith("run-")) return wholeReport(client, named);
  if (named === LATEST && !(await isBaseline(client, suiteId, named))) {
    return wholeReport(client, await evalNamed(client, named, { suiteId, status: "completed" }));
  }
  const known = { baseline: namedBaseline(client, suiteId, named) };
  const { runId, imported } = await orNearest(client.evals.baseline(suiteId, named), known);
  return imported === undefined
    ? wholeReport(client, runId)
    : fileSide(await client.evals.exportBaseline(suiteId, named));
}

const TASKS_SHOWN = 50;

/** An evaluation, or as much of one as a baseline file has. */
interface ComparedSide
  extends Pick<EvalReport, "runId" | "suiteId" | "suiteVersion" | "suiteSha256" | "agentId" | "resolvedAgentVersion"> {
  readonly aggregateScore: number;
  readonly figures: Pick<EvalReport["figures"], "tasks" | "trials" | "latency" | "cost">;
  readonly tasks: readonly (Pick<EvalReport["tasks"][number], "taskId" | "score" | "passed" | "flaky"> &
    Pick<ComparedTask, "passes">)[];
  /** Of an imported baseline. */
  readonly fileSha256?: string;
}

function fileSide(file: BaselineFile): ComparedSide {
  const tasks = file.tasks.map((task) => ({ ...task, flaky: isFlaky(task.trials.scored, task.trials.passed) }));
  const count = (of: keyof BaselineFile["tasks"][number]["trials"]) =>
    tasks.reduce((sum, { trials }) => sum + trials[of], 0);
  const [scored, errors] = [count("scored"), count("errors")];
  const unscored = tasks.filter(({ score }) => score === null).length;
  return {
    ...file,
    tasks,
    fileSha256: file.sha256,
    figures: {
      tasks: {
        total: tasks.length,
        scored: tasks.length - unscored,
        passed: tasks.filter(({ passed }) => passed).length,
        flaky: tasks.filter(({ flaky }) => flaky).length,
        errored: unscored,
      },
      trials: { total: scored + errors, scored, passed: count("passed"), errors },
      latency: { p95Ms: null, reason: "no_latency_known", count: 0, method: "nearest_rank" },
      cost: { totalUsd: null, reason: "no_cost_known", count: 0, unknown: scored + errors },
    },
  };
}

/** Two evaluations next to each other: their figures, the tasks with another result, and last whether the difference is more than chance. */
function comparisonText(
  { candidate, baseline }: { readonly candidate: EvalReport; readonly baseline: ComparedSide },
  comparison: Comparison,
  paint: Paint,
): string {
  const figures = figuresOf(baseline).map(([name, before], i) => [name, before, figuresOf(candidate)[i]?.[1] ?? ""]);
  return [
    formatTable(["", "BASELINE", "NOW"], figures, paint),
    changedText(candidate, baseline, comparison, paint),
    `${markOf(comparison.verdict, paint)} ${paint.bold(printable(`${comparison.verdict.replaceAll("_", " ")}: ${comparison.reason}`))}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function figuresOf(side: ComparedSide): [string, string][] {
  const { runId, agentId, resolvedAgentVersion, figures, aggregateScore } = side;
  const { tasks, trials, latency, cost } = figures;
  return [
    ["Run", printable(`${runId}${importedMark(side)}`)],
    ["Agent", printable(`${agentId} ${resolvedAgentVersion}`)],
    ["Passed", `${tasks.passed} of ${tasks.total}`],
    ["Score", figure(aggregateScore)],
    ["Flaky", String(tasks.flaky)],
    ["Errors", `${trials.errors} of ${formatCount(trials.total, "trial")}`],
    ["p95 latency", latency.p95Ms === null ? "not known" : `${Math.round(latency.p95Ms)} ms`],
    ["Cost", cost.totalUsd === null ? "not known" : `${cost.unknown > 0 ? "at least " : ""}${cost.totalUsd} USD`],
  ];
}

type SideTask = ComparedSide["tasks"][number];

/** The tasks with another result than before, lost ones first. */
function changedText(candidate: EvalReport, baseline: ComparedSide, comparison: Comparison, paint: Paint): string {
  const before = new Map(baseline.tasks.map((task) => [task.taskId, task]));
  const [lost, gained] = [new Set(comparison.lost), new Set(comparison.gained)];
  const rows = candidate.tasks.flatMap((task) => {
    const old = before.get(task.taskId);
    if (old === undefined || outcomeOf(old) === outcomeOf(task)) return [];
    const [rank, word] = lost.has(task.taskId)
      ? ([0, paint.red("lost")] as const)
      : gained.has(task.taskId)
        ? ([2, paint.green("gained")] as const)
        : ([1, ""] as const);
    return [{ rank, cells: [printable(task.taskId), outcomeOf(old), outcomeOf(task), word] }];
  });
  if (rows.length === 0) return "";
  const shown = rows.sort((a, b) => a.rank - b.rank).slice(0, TASKS_SHOWN);
  const left = rows.length - shown.length;
  const table = formatTable(
    ["TASK", "BASELINE", "NOW", ""],
    shown.map(({ cells }) => cells),
    paint,
  );
  return left > 0 ? `${table}\n${paint.dim(`… and ${left} more with another result`)}` : table;
}

function outcomeOf(task: SideTask): string {
  const state = taskState(task);
  return state === "error" ? "error" : `${state} ${figure(task.score ?? 0)}${task.flaky ? " flaky" : ""}`;
}

function markOf(verdict: Verdict, paint: Paint): string {
  if (verdict === "regressed") return paint.red("✗");
  return verdict === "suspect" || verdict === "not_enough_data" ? paint.yellow("!") : paint.green("✓");
}
