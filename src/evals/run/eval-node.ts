import type { Host } from "../../engine/host.ts";
import type { EffectContext, EffectNodeType, NodeOutcome } from "../../engine/worker/node-type.ts";
import { defined } from "../../protocol/defined.ts";
import type { EventDraft } from "../../protocol/events.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { parse, Type } from "../../protocol/schema.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Store } from "../../store/port/store.ts";
import { plannedRef } from "../suite/suite-ref.ts";
import { readSuite, withSuiteRoom } from "../suite/suite-store.ts";
import { baselineTasks } from "./baseline.ts";
import { overspentText } from "./budget.ts";
import { tasksOfModes } from "./chosen-modes.ts";
import { EVAL_NODE_TYPE, EvalPlan } from "./eval-plan.ts";
import type { EvalRun, EvalServices } from "./eval-run.ts";
import { type Ended, runTasks } from "./run-tasks.ts";
import { type Baseline, baselineOf, summaryOf } from "./summary-of.ts";
import { readOutcomes, type TaskOutcome } from "./task-result.ts";
import { isSameJudge } from "./usable-judge.ts";

type Needs = Pick<Host, "store" | "scrubber" | "nowMs" | "newId">;

/** Runs an evaluation, and resumes one that was interrupted. */
export function evalNode(host: Needs, services: () => EvalServices): EffectNodeType {
  return {
    kind: "effect",
    typeId: EVAL_NODE_TYPE,
    hostOnly: true,
    summary: "Carries out an evaluation. Made by runs of mode eval; no workflow may use it.",
    config: Type.Object({}, { additionalProperties: false }),
    execute: (context) => evaluate(host, services(), context),
  };
}

async function evaluate(host: Needs, services: EvalServices, context: EffectContext): Promise<NodeOutcome> {
  const { run, signal } = context;
  const plan = parse(EvalPlan, run.variables["plan"], "plan");
  const work = () => evaluatePlan(host, services, context, plan);
  return withSuiteRoom(host, run.owner.tenant, plannedRef(plan), signal, work);
}

async function evaluatePlan(
  host: Needs,
  services: EvalServices,
  context: EffectContext,
  plan: EvalPlan,
): Promise<NodeOutcome> {
  const { run } = context;
  const prepared = await prepare(host, services, context, plan);
  if ("code" in prepared) return { type: "failed", error: { ...prepared, retryable: false } };
  const planned = new Set(plan.taskIds);
  const tasks = tasksOfModes(prepared.suite, plan.modes).filter(({ taskId }) => planned.has(taskId));
  if (!(await hasBegun(host.store, run))) await context.append([startedEvent(prepared)]);
  const done = await readOutcomes(host.store, run.owner.tenant, run.runId);
  const results = new Map(done.map((result) => [result.taskId, result]));
  const ended = await runTasks(prepared, tasks, results, context.append);
  if (ended.type === "over-budget") return overBudget(plan, ended, results.size);
  const inOrder = tasks.flatMap(({ taskId }) => results.get(taskId) ?? []);
  return finish(prepared, inOrder, baselineOf(plan, await baselineTasks(host.store, run.owner, plan)));
}

async function prepare(
  host: Needs,
  services: EvalServices,
  { run, node, signal }: EffectContext,
  plan: EvalPlan,
): Promise<EvalRun | { readonly code: string; readonly message: string }> {
  const { owner, runId } = run;
  const begun = await resumeCheck(host, services, owner, plan);
  return "code" in begun ? begun : { host, services, runId, nodeId: node.id, owner, plan, ...begun, signal };
}

/** Written before anything else the node writes, so it is near the beginning or nowhere. */
async function hasBegun(store: Store, { runId }: Run): Promise<boolean> {
  for (let from = 0; ; ) {
    const page = await store.readEvents(runId, from, 50);
    if (page.some(({ type }) => type === "eval.started")) return true;
    if (isLastPage(page, 50)) return false;
    from += page.length;
  }
}

function startedEvent({ plan, nodeId }: EvalRun): EventDraft {
  const { suiteId, suiteVersion, taskIds, modes, baselineRunId } = plan;
  return {
    type: "eval.started",
    nodeId,
    payload: {
      suiteId,
      suiteVersion,
      taskCount: taskIds.length,
      modes: [...modes],
      ...defined({ baselineRunId }),
    },
  };
}

function finish(run: EvalRun, results: readonly TaskOutcome[], baseline: Baseline | undefined): NodeOutcome {
  const { summary } = summaryOf(run.runId, run.plan, run.suite, run.agent, results, baseline);
  const { aggregateScore, passed, taskCount, passedCount, regression } = summary;
  const payload = {
    aggregateScore,
    passed,
    taskCount,
    passedCount,
    ...(regression === undefined ? {} : { regressionVsBaseline: regression.scoreDelta }),
  };
  return {
    type: "completed",
    events: [{ type: "eval.completed", nodeId: run.nodeId, payload }],
    outputs: summary,
  };
}

function overBudget(
  { budgetUsd, taskIds }: EvalPlan,
  { overspent }: Extract<Ended, { type: "over-budget" }>,
  done: number,
): NodeOutcome {
  const why = overspentText(overspent, budgetUsd);
  const message = `The evaluation stopped after ${done} of ${taskIds.length} tasks: ${why}.`;
  return { type: "failed", error: { code: "eval_budget_exceeded", message, retryable: false } };
}

export interface Changed {
  readonly code: "eval_suite_changed" | "eval_agent_changed" | "agent_not_configured" | "eval_judge_changed";
  readonly message: string;
}

/** The agent and suite of an evaluation if they are unchanged since its start; else the part that changed. */
export async function resumeCheck(
  host: Pick<Host, "store">,
  services: EvalServices,
  owner: Visibility,
  plan: EvalPlan,
): Promise<Pick<EvalRun, "suite" | "agent" | "binding"> | Changed> {
  const ref = plannedRef(plan);
  const { suite, info } = await readSuite(host, owner.tenant, ref);
  if (info.sha256 !== plan.suiteSha256) {
    return { code: "eval_suite_changed", message: `Suite ${ref} is not the one the evaluation was started with.` };
  }
  const versions = await services.agents.versionsOf(owner, plan.agentId, { version: plan.resolvedAgentVersion });
  const agent = versions.find(({ version }) => version === plan.resolvedAgentVersion);
  if (agent === undefined || agent.contentHash !== plan.agentHash) {
    const message = `Agent ${plan.agentId}@${plan.resolvedAgentVersion} is not installed as it was when the evaluation was started.`;
    return { code: "eval_agent_changed", message };
  }
  const binding = services.agents.bindingFor(agent, undefined, owner.tenant);
  if (binding === undefined) {
    const message = `This host does not know how to call ${plan.agentId} for tenant ${owner.tenant}; bind it in the agents file.`;
    return { code: "agent_not_configured", message };
  }
  if (!isSameJudge(plan, services)) {
    return { code: "eval_judge_changed", message: "The judge is not the one the evaluation was started with." };
  }
  return { suite, agent, binding };
}
