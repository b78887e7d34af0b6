import { CONFORMANCE_AGENT_ID } from "../../agents/conformance-agents.ts";
import { createEvalRun } from "../../evals/run/create-eval-run.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import { putSuite } from "../../evals/suite/suite-store.ts";
import type { EvalSummary } from "../../protocol/evals/api.ts";
import { type AgentEvalSuite, EVAL_MODES, type EvalMode, type EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { OPERATIONS } from "../../protocol/operations.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { HandlerOf } from "../pipeline/handler.ts";
import { ok } from "../pipeline/reply.ts";
import { hasEnded, untilRun } from "./made-run.ts";

const WAITING = { limitMs: 15_000, reason: "No worker carried the evaluation out in time" };

/** A real evaluation with a suite of as many tasks as requested, carried out to its end by the worker. */
export function evalRunRoute(services: EvalServices): HandlerOf<(typeof OPERATIONS)["conformanceEvalRun"]> {
  return async ({ host, caller, body }) => {
    const { agentId = CONFORMANCE_AGENT_ID, modes: wanted = ["golden"], taskCount = 2 } = body;
    const modes = EVAL_MODES.filter((mode) => wanted.includes(mode));
    const suite = suiteFor(modes, taskCount);
    const ref = `${suite.suiteId}@${suite.version}`;
    await putSuite(host, { caller, ref, bytes: Buffer.from(JSON.stringify(suite)) });
    const evaluate = async (configurable: Readonly<Record<string, unknown>>): Promise<Run> => {
      const request = { mode: "eval" as const, evalSuiteRef: ref, agentId, configurable };
      const created = await createEvalRun(host, services, { caller, request, dedup: false, record: () => undefined });
      return untilRun(host, caller, created.runId, hasEnded, WAITING);
    };
    // A regression is measured against an earlier evaluation.
    const baseline = modes.includes("regression") ? await evaluate({ evalModes: ["golden"] }) : undefined;
    const run = await evaluate({
      evalModes: modes,
      ...(baseline === undefined ? {} : { baselineRunId: baseline.runId }),
    });
    const { aggregateScore, passed } = (run.outputs ?? {}) as Partial<EvalSummary>;
    const { suiteId, version: suiteVersion } = suite;
    return ok({ runId: run.runId, suiteId, suiteVersion, taskCount, passed, aggregateScore });
  };
}

/** The content of a suite follows from its name, since a suite under a name never changes. */
function suiteFor(modes: readonly EvalMode[], taskCount: number): AgentEvalSuite {
  const declared = EVAL_MODES.filter((mode) => modes.includes(mode) || (mode === "golden" && needsGolden(modes)));
  const bits = declared.reduce((sum, mode) => sum + 2 ** EVAL_MODES.indexOf(mode), 0);
  const onlyRubrics = declared.every((mode) => mode === "rubric");
  const tasks = Array.from({ length: taskCount }, (_, i): EvalTask => {
    const isRubric = declared.includes("rubric") && (onlyRubrics || i === taskCount - 1);
    return isRubric ? rubricTask(i) : goldenTask(i);
  });
  return { suiteId: "conformance.evals.sample", version: `1.${bits}.${taskCount}`, modes: declared, tasks };
}

function needsGolden(modes: readonly EvalMode[]): boolean {
  return modes.includes("regression") || modes.every((mode) => mode === "live-shadow");
}

function goldenTask(i: number): EvalTask {
  const value = `answer ${i + 1}`;
  return { taskId: `task-${i + 1}`, input: value, expected: { kind: "golden", match: { strategy: "exact", value } } };
}

function rubricTask(i: number): EvalTask {
  const rubric = [{ criterion: "says something", weight: 1 }];
  return { taskId: `task-${i + 1}`, input: `answer ${i + 1}`, expected: { kind: "rubric", rubric } };
}
