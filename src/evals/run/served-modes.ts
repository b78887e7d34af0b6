import { EVAL_MODES, type EvalMode } from "../../protocol/evals/eval-suite.ts";
import type { EvalServices } from "./eval-run.ts";

/** Only what can really be served is advertised: rubrics need somebody who judges. */
export function servedModes({ judge }: Pick<EvalServices, "judge">): EvalMode[] {
  return EVAL_MODES.filter((mode) => mode !== "rubric" || judge !== undefined);
}
