import type { Binding } from "../agents/binding.ts";
import { agentJudge } from "../evals/judge/agent-judge.ts";
import type { Judge } from "../evals/judge/judge.ts";
import { type JudgeInput, type JudgeOutput, JudgeInput as Question } from "../protocol/evals/judge-api.ts";
import { parse } from "../protocol/schema.ts";

export interface LexicalJudge {
  readonly judge: Judge;
  /** What it was asked, in order. */
  readonly asked: readonly JudgeInput[];
}

/** A judge that finds a criterion met when the output has the word it consists of. What is `silent` it has no verdict on. */
export function lexicalJudge(more: Partial<Binding> & { readonly silent?: string } = {}): LexicalJudge {
  const { silent, ...changes } = more;
  const asked: JudgeInput[] = [];
  const binding: Binding = {
    kind: "scripted",
    provider: "local",
    model: "lexical",
    fingerprint: "lexical:1",
    call: async ({ input }, watch) => {
      const question = parse(Question, input, "question");
      asked.push(question);
      watch.usage({ provider: "local", model: "lexical", inputTokens: 10, outputTokens: 1, costUsd: 0.001 });
      const output = String(question.data.output);
      if (silent !== undefined && output.includes(silent)) return { type: "refused", reason: "nothing to say" };
      return { type: "completed", output: verdictOn(question, output) };
    },
    ...changes,
  };
  return { judge: agentJudge(binding), asked };
}

function verdictOn({ criteria }: JudgeInput, output: string): JudgeOutput {
  return {
    criteria: criteria.map(({ number, criterion }) => ({
      number,
      met: output.includes(criterion),
      evidence: `looked for ${criterion}`,
    })),
    findings: [],
  };
}
