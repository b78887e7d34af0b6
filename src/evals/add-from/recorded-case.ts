import type { ToolResponse } from "../../protocol/evals/eval-suite.ts";

/** What an agent was asked, what it had to hand and what it answered, out of the record of a run. */
export interface RecordedCase {
  /** The default name of a task made from this case. */
  readonly name: string;
  readonly agentId?: string;
  readonly agentVersion?: string;
  readonly nodeId?: string;
  readonly input: unknown;
  /** What it answered, each time it was asked; empty where it gave no answer. */
  readonly outputs: readonly unknown[];
  readonly toolResponses: readonly ToolResponse[];
  readonly memorySeed: readonly Readonly<Record<string, unknown>>[];
  /** The parts that the record does not hold, for users of the task. */
  readonly notes: readonly string[];
}
