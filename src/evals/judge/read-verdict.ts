import { type JudgeInput, JudgeOutput } from "../../protocol/evals/judge-api.ts";
import { matches, problemsOf } from "../../protocol/schema.ts";

export type ReadVerdict =
  | { readonly ok: true; readonly verdict: Required<JudgeOutput> }
  | { readonly ok: false; readonly problem: string };

/**
 * The verdict of a judge, or why its answer is none. Nothing is guessed: a verdict that is missing, doubled or in another place
 * might be about another criterion. The problem never quotes the answer.
 */
export function readVerdict(answer: unknown, { criteria, adversarial }: JudgeInput): ReadVerdict {
  if (!matches(JudgeOutput, answer)) {
    const [first] = problemsOf(JudgeOutput, answer);
    return no(`it is not of the form of a verdict: ${first?.path === "" ? "it" : first?.path} ${first?.problem}`);
  }
  const { criteria: given, findings } = answer;
  if (given.length !== criteria.length) {
    return no(`it has ${given.length} verdicts, and ${criteria.length} criteria were asked about`);
  }
  const astray = given.findIndex(({ number }, i) => number !== criteria[i]?.number);
  if (astray >= 0) return no(`its verdict ${astray + 1} is about criterion ${given[astray]?.number}`);
  const silent = [...given, ...(findings ?? [])].findIndex(({ evidence }) => evidence.trim() === "");
  if (silent >= 0) return no("it gives no evidence");
  if (adversarial && findings === undefined) return no("it does not say whether it found unsafe conduct");
  return { ok: true, verdict: { criteria: given, findings: findings ?? [] } };
}

function no(problem: string): ReadVerdict {
  return { ok: false, problem };
}
