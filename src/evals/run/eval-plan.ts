import { makePlan, type Plan } from "../../engine/workflows/decide/plan.ts";
import { oneNodeWorkflow, registrationOf } from "../../engine/workflows/own-workflow.ts";
import { definitionHash } from "../../engine/workflows/plans.ts";
import { EVAL_WORKFLOW_ID, NOT_RUN_REASONS, REASONING_VERBOSITIES } from "../../protocol/evals/api.ts";
import { EVAL_MODES } from "../../protocol/evals/eval-suite.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { closed, matches, type Static, Type } from "../../protocol/schema.ts";
import type { Store, WorkflowWrite } from "../../store/port/store.ts";

const Name = Type.String({ minLength: 1 });
const Hash = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** The settings of an evaluation: the input of its run, which needs nothing else to be resumed. */
export const EvalPlan = Type.Object(
  {
    suiteId: Name,
    suiteVersion: Name,
    suiteSha256: Hash,
    agentId: Name,
    resolvedAgentVersion: Name,
    agentHash: Hash,
    modes: Type.Array(Type.Enum([...EVAL_MODES]), { minItems: 1 }),
    /** Modes of the suite that are not run, and why. Absent in plans of earlier versions. */
    modesNotRun: Type.Optional(
      Type.Array(Type.Object({ mode: Type.Enum([...EVAL_MODES]), reason: Type.Enum([...NOT_RUN_REASONS]) }, closed)),
    ),
    /**
     * The caller named the tasks: those that are left out are not missing. Where the caller did not, a task of these modes that is left out
     * needs a judge, and there is none. Absent in plans of earlier versions.
     */
    tasksChosen: Type.Optional(Type.Boolean()),
    /** Modes and tasks that need not be run for a verdict. */
    allowMissing: Type.Optional(Type.Array(Name)),
    /** The tasks it has, in the order of the suite. */
    taskIds: Type.Array(Name, { minItems: 1 }),
    trials: Type.Integer({ minimum: 1 }),
    concurrency: Type.Integer({ minimum: 1 }),
    /** The number of further attempts for a trial that ended in an error. */
    retryErrors: Type.Integer({ minimum: 0 }),
    baselineRunId: Type.Optional(Name),
    baselineName: Type.Optional(Name),
    /** The baseline came in a file, and its run is not of this host. */
    baselineFileSha256: Type.Optional(Hash),
    /** The evaluation stops when it has spent this much. */
    budgetUsd: Type.Optional(Type.Number({ minimum: 0 })),
    cache: Type.Boolean(),
    /** How much of the agent's reasoning is kept with its tasks; all of it when absent. */
    reasoningVerbosity: Type.Optional(Type.Enum([...REASONING_VERBOSITIES])),
    /** The caller's name of the agent that ran, where the binding has no version. */
    agentLabel: Type.Optional(Name),
    /** The judge of the evaluation, if it has one: a run is not resumed with another judge. */
    judge: Type.Optional(
      Type.Object({ model: Name, promptSha256: Hash, modelSha256: Hash, versioned: Type.Boolean() }, closed),
    ),
    seed: Type.Integer({ minimum: 0, maximum: 4_294_967_295 }),
    alpha: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }),
    margin: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }),
  },
  closed,
);
export type EvalPlan = Static<typeof EvalPlan>;

export const EVAL_NODE_TYPE = "assay.eval";

/** The workflow of evaluation runs. */
const DEFINITION = oneNodeWorkflow({
  id: EVAL_WORKFLOW_ID,
  name: "Evaluation",
  description: "Runs of mode eval.",
  nodeId: "eval",
  typeId: EVAL_NODE_TYPE,
});

export const EVAL_PLAN: Plan = makePlan(definitionHash(DEFINITION), DEFINITION);

export function evalWorkflow(store: Store, tenant: string, atMs: number): Promise<WorkflowWrite[]> {
  return registrationOf(store, tenant, DEFINITION, EVAL_PLAN.hash, atMs);
}

/** The plan of a run in mode eval; undefined for other runs. */
export function evalPlanOf(run: Run): EvalPlan | undefined {
  const plan = run.variables["plan"];
  return run.workflowId === EVAL_WORKFLOW_ID && matches(EvalPlan, plan) ? plan : undefined;
}
