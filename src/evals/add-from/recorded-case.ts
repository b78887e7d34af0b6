import type { ToolResponse } from "../../protocol/evals/eval-suite.ts";

/** What an agent was asked, what it had to hand and what it answered, out of the record of a run. */
export interface RecordedCase {
  /** What a task that is made of it is called, unless somebody names it. */
  readonly name: string;
  readonly agentId?: string;
  readonly agentVersion?: string;
  readonly nodeId?: string;
  readonly input: unknown;
  /** What it answered, each time it was asked; empty where it gave no answer. */
  readonly outputs: readonly unknown[];
  readonly toolResponses: readonly ToolResponse[];
  readonly memorySeed: readonly Readonly<Record<string, unknown>>[];
  /** What the record does not hold, for whoever uses the task. */
  readonly notes: readonly string[];
}
