import type { ToolResponse } from "../../protocol/evals/eval-suite.ts";

/** The input, tools, memory and answers of an agent, from the record of a run. */
export interface RecordedCase {
  /** The default name of a task made from this case. */
  readonly name: string;
  readonly agentId?: string;
  readonly agentVersion?: string;
  readonly nodeId?: string;
  readonly input: unknown;
  /** The answer of each call; empty where there was none. */
  readonly outputs: readonly unknown[];
  readonly toolResponses: readonly ToolResponse[];
  readonly memorySeed: readonly Readonly<Record<string, unknown>>[];
  /** The parts that the record does not hold, for users of the task. */
  readonly notes: readonly string[];
}
