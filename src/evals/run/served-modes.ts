import { EVAL_MODES, type EvalMode } from "../../protocol/evals/eval-suite.ts";
import type { EvalServices } from "./eval-run.ts";

/** Only modes that can be served are advertised: rubrics need a judge. */
export function servedModes({ judge }: Pick<EvalServices, "judge">): EvalMode[] {
  return EVAL_MODES.filter((mode) => mode !== "rubric" || judge !== undefined);
}
