import { totalCost, usageEvent } from "../../agents/invocation-events.ts";
import { invoke } from "../../agents/invoke.ts";
import { givenWithTask } from "../../agents/memory/agent-memory.ts";
import { snapshotTools } from "../../agents/memory/memory-tools.ts";
import { defined } from "../../protocol/defined.ts";
import type { EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { EventDraft } from "../../protocol/events.ts";
import type { DocumentWrite } from "../../store/port/documents.ts";
import { taskBar } from "../score/task-bar.ts";
import type { Budget } from "./budget.ts";
import { modesOfTask } from "./chosen-modes.ts";
import type { EvalRun } from "./eval-run.ts";
import { passesOf } from "./passes.ts";
import { type Scored, scoreTrial } from "./score-trial.ts";
import { BodyRecorder, bodyWrites } from "./task-bodies.ts";
import type { TaskResult } from "./task-result.ts";
import { allowedTools, fixtureTools, liveTools, observedTools, seededMemory, unusedFixtures } from "./task-tools.ts";
import { cachedTrial, cacheKey, keepTrial } from "./trial-cache.ts";

export interface RanTask {
  /** Absent where the budget was spent before all of its trials were made. */
  readonly result?: TaskResult;
  /** Events of all its invocations, with its score last. */
  readonly events: readonly EventDraft[];
  readonly documents: readonly DocumentWrite[];
}

/** All passes of one task, and all trials of each, one after the other. */
export async function runTask(run: EvalRun, task: EvalTask, budget: Budget): Promise<RanTask> {
  const events: EventDraft[] = [];
  const documents: DocumentWrite[] = [];
  const scored: Scored[] = [];
  const trials = Array.from({ length: run.plan.trials }, (_, i) => i + 1);
  const passes = modesOfTask(task, run.plan.modes).flatMap((mode) => trials.map((trial) => ({ mode, trial })));
  for (const { mode, trial } of passes) {
    const key = cacheKey(run, task, mode, trial);
    const before = key === undefined ? undefined : await cachedTrial(run, key);
    if (before !== undefined) {
      // The cost of a cached result was paid by an earlier evaluation.
      scored.push({ ...before, trial: { ...before.trial, trial, cached: true, costUsd: 0 }, usage: [] });
      continue;
    }
    // A task is always run to its first answer; the budget can only save later calls.
    if (scored.length > 0 && budget.overspent() !== undefined) return { events, documents };
    const one = await runTrial(run, { task, mode, trial }, events, budget);
    if (one === undefined) return { events, documents };
    scored.push(one);
    if (key !== undefined) documents.push(...keepTrial(run, key, one));
  }
  documents.push(
    ...bodyWrites(
      run,
      task.taskId,
      scored.flatMap(({ body }) => body ?? []),
    ),
  );
  const result = resultOf(run, task, scored);
  events.push(scoredEvent(run.nodeId, result));
  return { result, events, documents };
}

interface PlannedTrial {
  readonly task: EvalTask;
  readonly mode: EvalMode;
  readonly trial: number;
}

/** Undefined where the trial ended in an error and the budget allows no further attempt. */
async function runTrial(
  run: EvalRun,
  { task, mode, trial }: PlannedTrial,
  events: EventDraft[],
  budget: Budget,
): Promise<Scored | undefined> {
  const { host, plan, nodeId } = run;
  const earlier: Scored[] = [];
  for (let retries = 0; ; retries++) {
    const invocationId = host.newId("inv");
    const around = await surroundings(run, task, mode);
    const { tools, seen } = observedTools(around.tools);
    const transcript = new BodyRecorder(host.scrubber);
    const invoked = await invoke(
      {
        agent: run.agent,
        binding: run.binding,
        input: task.input,
        runId: run.runId,
        nodeId,
        invocationId,
        source: "run-api",
        taskId: task.taskId,
        trial,
        ...around,
        tools,
        content: false,
        transcript,
        verbosity: plan.reasoningVerbosity ?? "full",
        ...defined({ principal: run.owner.principal }),
        scrubber: host.scrubber,
        newId: host.newId,
        nowMs: host.nowMs,
        signal: run.signal,
      },
      (event) => events.push(event),
    );
    const attempted = { task, mode, trial, invocationId, retries, invoked, toolResults: seen };
    const asked = [...new Set(seen.map(({ tool }) => tool))];
    const body = transcript.body(invocationId);
    const outcome = await scoreTrial(run, attempted);
    const scored: Scored = { ...outcome, asked, ...defined({ body }) };
    for (const used of scored.usage) events.push(usageEvent(nodeId, used));
    budget.spend(scored.trial.costUsd);
    if (scored.trial.error === undefined || retries >= plan.retryErrors) return withEarlier(scored, earlier);
    if (budget.overspent() !== undefined) return undefined;
    earlier.push(scored);
  }
}

/** Failed attempts count with their cost and their findings. */
function withEarlier(scored: Scored, earlier: readonly Scored[]): Scored {
  const { costUsd: _, ...trial } = scored.trial;
  const costUsd = totalCost([...earlier, scored].map((one) => one.trial));
  return {
    ...scored,
    trial: { ...trial, ...defined({ costUsd }) },
    findings: [...earlier.flatMap(({ findings }) => findings), ...scored.findings],
    asked: [...earlier, scored].flatMap(({ asked = [] }) => asked),
  };
}

/** Whether a pass has the live tools and memory in place of the fixtures of the task. */
function isLive(mode: EvalMode | undefined): boolean {
  return mode === "live-shadow";
}

/** Tools and memory of one pass. */
async function surroundings(run: EvalRun, task: EvalTask, mode: EvalMode) {
  const { host, services, agent, owner } = run;
  const allowed = allowedTools(agent, task.fixtures);
  if (isLive(mode)) {
    const memory = givenWithTask(await services.agents.memoryFor(owner, agent));
    return { tools: await liveTools(run, allowed), memory, memoryBound: memory.length > 0 };
  }
  const at = new Date(host.nowMs()).toISOString();
  const memory = seededMemory(task.fixtures ?? {}, host.scrubber, at);
  const seeded = snapshotTools(allowed, memory, host.newId);
  return { tools: fixtureTools(allowed, task.fixtures, seeded), memory, memoryBound: memory.length > 0 };
}

function resultOf({ suite, plan, binding }: EvalRun, task: EvalTask, scored: readonly Scored[]): TaskResult {
  const trials = scored.map(({ trial }) => trial);
  const findings = scored.flatMap((one) => one.findings);
  const bar = taskBar(task, suite.thresholds);
  const passes = passesOf({ bar, findings, trials }, plan.modes);
  const costUsd = totalCost(trials);
  const valid = scored.flatMap(({ schemaValid }) => schemaValid ?? []);
  const withFixtures = scored.filter(({ trial }) => !isLive(trial.mode));
  const asked = withFixtures.flatMap((one) => one.asked ?? []);
  const fixturesUnused = withFixtures.length === 0 ? undefined : unusedFixtures(task.fixtures, binding, asked);
  return {
    taskId: task.taskId,
    score: Math.min(...passes.map(({ score }) => score)),
    passed: passes.every(({ passed }) => passed),
    bar,
    ...defined({ costUsd }),
    latencyMs: Math.round(trials.reduce((sum, { latencyMs }) => sum + latencyMs, 0) / trials.length),
    ...(valid.length === 0 ? {} : { schemaValid: valid.every(Boolean) }),
    findings,
    ...defined({ fixturesUnused }),
    trials,
  };
}

function scoredEvent(nodeId: string, result: TaskResult): EventDraft {
  const { taskId, score, passed, costUsd, latencyMs, schemaValid, findings } = result;
  return {
    type: "eval.scored",
    nodeId,
    payload: {
      taskId,
      score,
      passed,
      ...defined({ costUsd }),
      latencyMs,
      ...defined({ schemaValid }),
      safetyFindingCount: findings.length,
    },
  };
}
