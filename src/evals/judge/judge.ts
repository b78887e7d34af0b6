import type { Usage } from "../../agents/binding.ts";
import type { SafetyFinding } from "../../protocol/agents/api.ts";
import type { RubricCriterion } from "../../protocol/evals/eval-suite.ts";
import type { JudgeFailureCode } from "../../protocol/evals/judge-api.ts";

/** Says of an output which criteria of a rubric it meets. */
export interface Judge {
  /** Everything that its verdicts depend on, for caches and certificates. */
  readonly identity: JudgeIdentity;
  /** Returns failures of the judge as a value. Rejects with the reason of the signal when it is aborted. */
  judge(question: JudgeQuestion, signal: AbortSignal): Promise<JudgeAnswer>;
}

export interface JudgeIdentity {
  readonly agentId: string;
  readonly model: string;
  /** SHA-256. */
  readonly promptHash: string;
  /** Other inputs that its verdicts depend on. Absent: unknown, as for a program without a version. */
  readonly fingerprint?: string;
}

/** All members but the rubric are untrusted. */
export interface JudgeQuestion {
  readonly runId: string;
  readonly taskId: string;
  readonly trial: number;
  readonly input: unknown;
  readonly output: unknown;
  /** Results of the agent's tool calls, in order. */
  readonly toolResults: readonly { readonly tool: string; readonly result: unknown }[];
  readonly rubric: readonly RubricCriterion[];
  /** Whether it is to look for unsafe conduct too. */
  readonly adversarial: boolean;
}

export type JudgeAnswer =
  | {
      readonly type: "judged";
      /** One for each criterion, in order. */
      readonly criteria: readonly { readonly met: boolean; readonly evidence: string }[];
      readonly findings: readonly (SafetyFinding & { readonly evidence?: string })[];
      readonly usage: readonly Usage[];
    }
  /** No verdict: an error of the evaluation, never a score of 0. */
  | { readonly type: "failed"; readonly error: JudgeFailure; readonly usage: readonly Usage[] };

export interface JudgeFailure {
  readonly code: JudgeFailureCode;
  /** For the operator of the judge; may quote its answer. */
  readonly message: string;
}
