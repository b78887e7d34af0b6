import { notRunText } from "../../formats/evals/eval-outcome.ts";
import { validationError } from "../../protocol/errors.ts";
import type { EvalConfigurable, NotRunReason } from "../../protocol/evals/api.ts";
import { type AgentEvalSuite, EVAL_MODES, type EvalMode, type EvalTask } from "../../protocol/evals/eval-suite.ts";
import { BASELINE_CHOICES } from "./baseline.ts";
import type { EvalServices } from "./eval-run.ts";

export interface ChosenModes {
  readonly modes: EvalMode[];
  readonly modesNotRun: { readonly mode: EvalMode; readonly reason: NotRunReason }[];
}

/**
 * Modes that an evaluation runs. A request that names none runs every declared mode that the host serves, except live-shadow, which reaches
 * live tools and runs only when named, and regression without a baseline.
 */
export function chosenModes(services: EvalServices, suite: AgentEvalSuite, wanted: EvalConfigurable): ChosenModes {
  const { modes, suiteId } = suite;
  const reasons = modes.map((mode) => ({ mode, reason: reasonAgainst(mode, services, wanted) }));
  checkNamed(services, suite, wanted);
  const modesNotRun = reasons.flatMap(({ mode, reason }) => (reason === undefined ? [] : [{ mode, reason }]));
  const chosen = modes.filter((mode) => !modesNotRun.some((one) => one.mode === mode));
  if (chosen.length > 0) return { modes: chosen, modesNotRun };
  const why = modesNotRun.map(({ mode, reason }) => `${mode} (${notRunText(reason, mode)})`).join(", ");
  throw validationError(
    `suite ${suiteId} has no mode that can run now: it declares ${why}; name one in configurable.evalModes`,
  );
}

function reasonAgainst(
  mode: EvalMode,
  services: EvalServices,
  { evalModes, ...wanted }: EvalConfigurable,
): NotRunReason | undefined {
  if (evalModes !== undefined) return evalModes.includes(mode) ? undefined : "not_asked";
  if (mode === "live-shadow") return "not_named";
  if (mode === "regression" && !BASELINE_CHOICES.some((choice) => wanted[choice] !== undefined)) return "no_baseline";
  return servedModes(services).includes(mode) ? undefined : "no_judge";
}

function checkNamed(
  services: EvalServices,
  { modes, suiteId }: AgentEvalSuite,
  { evalModes = [] }: EvalConfigurable,
): void {
  const served = servedModes(services);
  for (const mode of evalModes) {
    if (!modes.includes(mode))
      throw validationError(`suite ${suiteId} does not declare mode ${mode}; it declares ${modes.join(", ")}`);
    if (!served.includes(mode))
      throw validationError(`this host does not serve mode ${mode}; it serves ${served.join(", ")}`);
  }
}

/** Only modes that can be served are advertised: rubrics need a judge. */
export function servedModes({ judge }: Pick<EvalServices, "judge">): EvalMode[] {
  return EVAL_MODES.filter((mode) => mode !== "rubric" || judge !== undefined);
}

/** The tasks that a run in these modes has: golden and rubric take those of their kind, every other mode takes all. */
export function tasksOfModes({ tasks }: Pick<AgentEvalSuite, "tasks">, modes: readonly EvalMode[]): EvalTask[] {
  return tasks.filter((task) => modesOfTask(task, modes).length > 0);
}

/** The modes that run the task: each is a pass of its own. */
export function modesOfTask({ expected }: Pick<EvalTask, "expected">, modes: readonly EvalMode[]): EvalMode[] {
  return modes.filter((mode) => !isKind(mode) || mode === expected.kind);
}

function isKind(mode: EvalMode): mode is "golden" | "rubric" {
  return mode === "golden" || mode === "rubric";
}
