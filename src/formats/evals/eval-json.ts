import { EvalReport } from "../../protocol/evals/api.ts";
import { EvalEntry } from "../../protocol/evals/baselines.ts";
import { type Static, Type } from "../../protocol/schema.ts";
import { CONCLUSIONS, type EvalOutcome } from "./eval-outcome.ts";

/** The version of the file; members may be added without a new one. */
export const EVAL_RESULT_VERSION = 1;

const Texts = Type.Array(Type.String());

/** The file of `assay eval run --output FILE`, and the output of `--json`. */
export const EvalResultFile = Type.Object(
  {
    format: Type.Literal("assay-eval"),
    version: Type.Literal(1),
    passed: Type.Boolean({ description: "exitCode is 0" }),
    verdict: Type.Enum([...CONCLUSIONS]),
    exitCode: Type.Integer({ minimum: 0 }),
    sentence: Type.String(),
    reasons: Texts,
    warnings: Texts,
    complete: Type.Boolean({ description: "false: the evaluation was stopped, or has not ended" }),
    run: EvalEntry,
    report: Type.Union([EvalReport, Type.Null()], {
      description: "of one that was stopped, what was done; null where there is nothing to report",
    }),
  },
  { additionalProperties: false },
);
export type EvalResultFile = Static<typeof EvalResultFile>;

export function evalJsonText({ entry, report, conclusion }: EvalOutcome): string {
  const { verdict, exitCode, sentence, reasons, warnings } = conclusion;
  const file: EvalResultFile = {
    format: "assay-eval",
    version: EVAL_RESULT_VERSION,
    passed: exitCode === 0,
    verdict,
    exitCode,
    sentence,
    reasons: [...reasons],
    warnings: [...warnings],
    complete: report?.complete ?? false,
    run: entry,
    report: report ?? null,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}
