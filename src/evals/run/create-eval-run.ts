import type { InstalledAgent } from "../../agents/agents.ts";
import type { Binding } from "../../agents/binding.ts";
import { versionFor } from "../../agents/resolve-agent.ts";
import type { Host } from "../../engine/host.ts";
import { checkUrl } from "../../engine/outbound/guard.ts";
import { beginRun, type CreateRun, checkMockProvider } from "../../engine/runs/create-run.ts";
import { compileSchema } from "../../engine/schemas/decide/json-schema.ts";
import { checked } from "../../engine/schemas/schema-checks.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { EvalConfigurable } from "../../protocol/evals/api.ts";
import type { AgentEvalSuite, EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { CreateRunRequest, CreateRunResponse } from "../../protocol/runs/api.ts";
import { parse } from "../../protocol/schema.ts";
import { suiteAt } from "../suite/suite-uri.ts";
import { usableBaseline } from "./baseline.ts";
import { chosenModes, tasksOfModes } from "./chosen-modes.ts";
import { EVAL_PLAN, type EvalPlan, evalWorkflow } from "./eval-plan.ts";
import type { EvalServices } from "./eval-run.ts";
import { usableJudge } from "./usable-judge.ts";

const DEFAULT_ALPHA = 0.05;
const DEFAULT_MARGIN = 0.05;
/** Settings that would make the agent differ from the one that the evaluation is evidence for. */
const BENDING = ["ai", "model", "temperature", "maxTokens", "promptOverrides"] as const;

/** `POST /v1/runs` with `mode: "eval"`. Everything that can be refused is refused before there is a run. */
export async function createEvalRun(
  host: Host,
  services: EvalServices,
  command: CreateRun,
): Promise<CreateRunResponse> {
  const { caller, request } = command;
  if (!host.capabilities.has("evalSuite")) {
    throw new AppError("capability_not_provided", { capability: "agents.evalSuite" });
  }
  if (request.tenantId !== undefined && request.tenantId !== caller.tenant) throw new AppError("tenant_mismatch");
  checkMockProvider(host, request);
  if (request.callbackUrl !== undefined) await checkUrl(host.outbound, request.callbackUrl);
  const plan = await planOf(host, services, caller, request);
  const { mode: _, evalSuiteRef: __, agentId, metadata, ...rest } = request;
  const started: CreateRunRequest = {
    ...rest,
    workflowId: EVAL_PLAN.definition.id,
    inputs: { plan },
    // The agent whose work is evaluated: judgments are counted by agent.
    metadata: { ...metadata, agentId },
  };
  const workflows = await evalWorkflow(host.store, caller.tenant, host.nowMs());
  return beginRun(host, EVAL_PLAN, { ...command, request: started }, workflows.length === 0 ? {} : { workflows });
}

async function planOf(
  host: Host,
  services: EvalServices,
  caller: Caller,
  { evalSuiteRef, agentId, workflowId, inputs, configurable: given = {} }: CreateRunRequest,
): Promise<EvalPlan> {
  if (evalSuiteRef === undefined || agentId === undefined) {
    throw validationError(
      `mode "eval" needs evalSuiteRef and agentId; ${evalSuiteRef === undefined ? "evalSuiteRef" : "agentId"} is missing`,
    );
  }
  if (workflowId !== undefined || inputs !== undefined) {
    throw validationError('mode "eval" takes neither workflowId nor inputs; the tasks of the suite are the inputs');
  }
  const bent = BENDING.find((name) => given[name] !== undefined);
  if (bent !== undefined)
    throw validationError(`mode "eval" evaluates the agent as it is bound; leave configurable.${bent} out`);
  const configurable = parse(EvalConfigurable, given, "configurable");
  const { suite, info } = await suiteAt(host, caller, evalSuiteRef);
  const { modes, modesNotRun } = chosenModes(services, suite, configurable);
  const allowMissing = allowedMissing(suite, configurable);
  const agent = await agentOf(services, caller, agentId, configurable);
  checkFit(suite, agent, configurable);
  const binding = services.agents.bindingFor(agent, undefined, caller.tenant);
  if (binding === undefined) {
    throw validationError(
      `this host does not know how to call ${agentId} for tenant ${caller.tenant}; bind it in the agents file`,
    );
  }
  const tasks = chosen(tasksOfModes(suite, modes), services, configurable);
  checkTools(binding, agentId, tasks, modes);
  checkSize(services, tasks);
  checkCost(services, suite, configurable);
  await checkInputs(agent, tasks);
  const { settings } = services;
  const { trials = 1, concurrency = settings.concurrency } = configurable;
  if (trials > settings.maxTrials) throw validationError(`configurable.trials may be ${settings.maxTrials} at most`);
  const baseline = await usableBaseline(host.store, caller, configurable, info, modes.includes("regression"));
  const judge = await usableJudge(host, services, caller, { suite, tasks, modes, configurable });
  const budgetUsd = leastOf(configurable.budgetUsd, settings.maxCostUsdPerSuite);
  return {
    suiteId: info.suiteId,
    suiteVersion: info.version,
    suiteSha256: info.sha256,
    agentId,
    resolvedAgentVersion: agent.version,
    agentHash: agent.contentHash,
    modes,
    ...(modesNotRun.length === 0 ? {} : { modesNotRun }),
    tasksChosen: configurable.taskIds !== undefined,
    ...defined({ allowMissing }),
    taskIds: tasks.map(({ taskId }) => taskId),
    trials,
    concurrency: Math.min(concurrency, settings.maxConcurrency),
    retryErrors: configurable.retryErrors ?? 0,
    ...(baseline === undefined ? {} : { baselineRunId: baseline.runId }),
    ...(baseline?.name === undefined ? {} : { baselineName: baseline.name }),
    ...(baseline?.fileSha256 === undefined ? {} : { baselineFileSha256: baseline.fileSha256 }),
    ...defined({ budgetUsd }),
    cache: configurable.cache ?? false,
    ...defined({ reasoningVerbosity: configurable.reasoningVerbosity, agentLabel: configurable.agentLabel, judge }),
    seed: configurable.seed ?? 1,
    alpha: configurable.alpha ?? DEFAULT_ALPHA,
    margin: configurable.margin ?? DEFAULT_MARGIN,
  };
}

/** A name that is neither a mode nor a task of the suite would allow nothing, and hide a mistake. */
function allowedMissing({ modes, tasks, suiteId }: AgentEvalSuite, { allowMissing }: EvalConfigurable) {
  const unknown = allowMissing?.find(
    (name) => !modes.some((mode) => mode === name) && !tasks.some(({ taskId }) => taskId === name),
  );
  if (unknown === undefined) return allowMissing;
  throw validationError(
    `configurable.allowMissing names ${unknown}, which is neither a mode nor a task of suite ${suiteId}`,
  );
}

async function agentOf(
  { agents }: EvalServices,
  caller: Caller,
  agentId: string,
  { agentVersion }: EvalConfigurable,
): Promise<InstalledAgent> {
  const named = agentVersion === undefined ? {} : { version: agentVersion };
  const found = await versionFor(agents, caller, { agentId, ...named });
  if (found !== undefined) return found;
  const versions = await agents.versionsOf(caller, agentId, { highest: true });
  const what =
    versions.length === 0
      ? "agent"
      : `${agentVersion === undefined ? "active version" : `version ${agentVersion}`} of the agent`;
  throw new AppError("not_found", { what, agentId, ...defined({ agentVersion }) });
}

function checkFit(suite: AgentEvalSuite, agent: InstalledAgent, { anyAgent }: EvalConfigurable): void {
  const { targetAgentId, allowedModels, suiteId } = suite;
  if (targetAgentId !== undefined && targetAgentId !== agent.agentId && anyAgent !== true) {
    throw validationError(
      `suite ${suiteId} is made for ${targetAgentId}; set configurable.anyAgent to true to evaluate ${agent.agentId} with it`,
    );
  }
  if (allowedModels !== undefined && !allowedModels.includes(agent.modelClass)) {
    throw validationError(
      `suite ${suiteId} is for ${allowedModels.join(", ")} agents; ${agent.agentId} is of class ${agent.modelClass}`,
    );
  }
}

/** An empty selection is never a pass. A rubric is scored by a judge in every mode, so without one its task is not run in any. */
export function chosen(
  tasks: readonly EvalTask[],
  { judge }: Pick<EvalServices, "judge">,
  { taskIds }: Pick<EvalConfigurable, "taskIds">,
): EvalTask[] {
  const canBeScored = ({ expected }: EvalTask) => expected.kind === "golden" || judge !== undefined;
  const known = new Set(tasks.map(({ taskId }) => taskId));
  const unknown = (taskIds ?? []).filter((wanted) => !known.has(wanted));
  if (unknown.length > 0)
    throw validationError(
      `configurable.taskIds names tasks that these modes do not have: ${unknown.slice(0, 10).join(", ")}`,
    );
  const asked = new Set(taskIds);
  const selected = tasks.filter(({ taskId }) => taskIds === undefined || asked.has(taskId));
  if (selected.length === 0) throw validationError("no task is left to evaluate; choose other modes or other taskIds");
  const scorable = selected.filter(canBeScored);
  if (scorable.length === selected.length || (taskIds === undefined && scorable.length > 0)) return scorable;
  const unscorable = selected.filter((task) => !canBeScored(task)).map(({ taskId }) => taskId);
  throw validationError(`no judge is configured, and these tasks need one: ${unscorable.slice(0, 10).join(", ")}`);
}

/** Fixtures that cannot reach the agent would make a verdict about something else. */
function checkTools(
  { noTools }: Binding,
  agentId: string,
  tasks: readonly EvalTask[],
  modes: readonly EvalMode[],
): void {
  if (noTools === undefined || modes.every((mode) => mode === "live-shadow")) return;
  const task = tasks.find(({ fixtures }) => (fixtures?.toolResponses ?? []).length > 0);
  if (task === undefined) return;
  throw validationError(
    `task ${task.taskId} has fixtures for tools, and ${agentId} cannot be offered them: ${noTools}`,
  );
}

function checkSize({ settings: { maxTasksPerSuite } }: EvalServices, tasks: readonly EvalTask[]): void {
  if (tasks.length <= maxTasksPerSuite) return;
  throw validationError(
    `the suite has ${tasks.length} tasks, and this host takes ${maxTasksPerSuite} at most (maxTasksPerSuite)`,
  );
}

/** The projected cost is the limit of the suite and of the caller. */
function checkCost(
  { settings }: EvalServices,
  { thresholds, suiteId }: AgentEvalSuite,
  wanted: EvalConfigurable,
): void {
  const { maxCostUsdPerSuite: cap } = settings;
  const { maxCostUsd } = thresholds ?? {};
  if (cap === undefined) return;
  if (wanted.budgetUsd !== undefined && wanted.budgetUsd > cap) {
    throw validationError(
      `configurable.budgetUsd is ${wanted.budgetUsd}, and this host spends ${cap} USD at most on one evaluation`,
    );
  }
  if (wanted.budgetUsd === undefined && maxCostUsd !== undefined && maxCostUsd > cap) {
    throw validationError(
      `suite ${suiteId} may cost ${maxCostUsd} USD, and this host spends ${cap} at most on one evaluation; set configurable.budgetUsd to allow less`,
    );
  }
}

async function checkInputs({ taskSchema, agentId }: InstalledAgent, tasks: readonly EvalTask[]): Promise<void> {
  if (taskSchema === undefined) return;
  const check = compileSchema(taskSchema, `the task schema of ${agentId}`);
  const problemsOf = ({ taskId, input }: EvalTask) =>
    check(input).map(({ path, problem }) => ({ path: `/tasks/${taskId}/input${path}`, problem }));
  const problems: ReturnType<typeof problemsOf> = [];
  for (const task of tasks) problems.push(...(await checked(() => problemsOf(task))));
  if (problems.length === 0) return;
  const [first] = problems;
  const problem = `the input of a task is not one that ${agentId} takes: ${first?.path} ${first?.problem}`;
  throw validationError(problem, { problems: problems.slice(0, 100) });
}

function leastOf(...limits: readonly (number | undefined)[]): number | undefined {
  const given = limits.filter((limit) => limit !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
