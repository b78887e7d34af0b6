import { AppError } from "../../protocol/errors.ts";
import type { Call } from "../command.ts";
import { withHome } from "../evals/choose-home.ts";
import { checkFiles, jsonText, writeFiles } from "../evals/eval-files.ts";
import type { EvalHome } from "../evals/eval-home.ts";
import { latestEval } from "../evals/latest-eval.ts";
import { NO_DEMANDS, outcomeOf } from "../evals/outcome-of.ts";
import { reportText } from "../evals/report-text.ts";
import type { EVAL_FILES_FLAGS } from "../specs/eval.ts";

export async function evalShow(call: Call<typeof EVAL_FILES_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  checkFiles(flags);
  await withHome(call, async (home) => {
    const outcome = await outcomeOf(home, args[0] ?? (await latest(home)), NO_DEMANDS);
    if (json) io.out(jsonText(outcome, flags));
    else io.out(reportText(outcome, io.paint));
    await writeFiles(outcome, flags);
  });
}

async function latest(home: EvalHome): Promise<string> {
  const newest = await latestEval(home);
  if (newest !== undefined) return newest;
  throw new AppError("unusable_input", { problem: "there is no evaluation yet; start one with: assay eval run" });
}
