import type { Scrubber } from "../formats/secrets/scrub.ts";
import type { MemoryEntry } from "../protocol/agents/api.ts";
import type { InvocationOutcome } from "../protocol/agents/events.ts";
import type { InstalledAgent } from "./agents.ts";
import type { AgentFailure, AgentTask, Binding, Usage } from "./binding.ts";
import type { Verbosity } from "./message-stream.ts";
import type { ToolSurface } from "./tool-surface.ts";
import type { Transcript } from "./transcript.ts";

export interface Invocation {
  readonly agent: InstalledAgent;
  readonly binding: Binding;
  readonly input: unknown;
  readonly runId: string;
  readonly nodeId: string;
  readonly invocationId: string;
  readonly source: "workflow-node" | "run-api";
  /** The channel that the version was chosen by. */
  readonly channel?: string;
  /** The manifest that the caller names as the agent's source. */
  readonly sourceManifestId?: string;
  readonly taskId?: string;
  readonly trial?: number;
  /** Cut down to what the agent may call. */
  readonly tools: ToolSurface;
  readonly memory: readonly MemoryEntry[];
  readonly memoryBound?: boolean;
  /** The run's settings for models. */
  readonly wished?: Pick<AgentTask, "temperature" | "outputBudget">;
  /** Whether the log has the text of messages, or only that there were some: evaluations keep all of it out. */
  readonly content: boolean;
  /** How much of its reasoning is logged. */
  readonly verbosity?: Verbosity;
  /** Receives reasoning and tool calls with their content, where the log has none. */
  readonly transcript?: Transcript;
  /** Answers with a confidence below this are escalated to a person. */
  readonly threshold?: number;
  /** The principal for whom tools are called. */
  readonly principal?: string;
  /** Resolves once all events so far are durable; tools act after that. */
  readonly flushed?: () => Promise<void>;
  readonly scrubber: Scrubber;
  readonly newId: (prefix: "evt" | "call") => string;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

export interface Invoked {
  readonly outcome: InvocationOutcome;
  /** The output of a completed, handed-off or escalated invocation; untrusted. */
  readonly output?: unknown;
  readonly failure?: AgentFailure;
  readonly refusal?: string;
  readonly handoff?: { readonly toAgentId: string; readonly reason?: string };
  readonly confidence?: number;
  /** Whether the output is as the agent's schema has it; absent where there is none. */
  readonly schemaValid?: boolean;
  readonly usage: readonly Usage[];
  /** Absent where no price is known of some call. */
  readonly costUsd?: number;
  readonly latencyMs: number;
  /** Tools outside the allow-list that were asked for. */
  readonly denied: readonly string[];
}
