import type { Call } from "../command.ts";
import { withHome } from "../evals/choose-home.ts";
import { checkFiles, jsonText, writeFiles } from "../evals/eval-files.ts";
import { evalNamed, LATEST } from "../evals/latest-eval.ts";
import { NO_DEMANDS, outcomeOf } from "../evals/outcome-of.ts";
import { reportText } from "../evals/report-text.ts";
import type { EVAL_FILES_FLAGS } from "../specs/eval.ts";

export async function evalShow(call: Call<typeof EVAL_FILES_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  checkFiles(flags);
  await withHome(call, async (home) => {
    const outcome = await outcomeOf(home, await evalNamed(home, args[0] ?? LATEST), NO_DEMANDS);
    if (json) io.out(jsonText(outcome, flags));
    else io.out(reportText(outcome, io.paint));
    await writeFiles(outcome, flags);
  });
}
