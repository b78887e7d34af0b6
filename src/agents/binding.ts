import type { MemoryEntry } from "../protocol/agents/api.ts";
import type { ToolSurface } from "./tool-surface.ts";

/** How an agent is called: a model, a program, an endpoint, or a script. One call is one turn of the agent at one task. */
export interface Binding {
  readonly kind: "model" | "command" | "http" | "scripted";
  /** The provider and the model, as far as they are known before the call. */
  readonly provider?: string;
  readonly model?: string;
  /** Everything but the input that the result depends on: two bindings with the same text answer alike. Absent: unknown. */
  readonly fingerprint?: string;
  /** Why the agent cannot be offered tools, and what to do about it; absent where it can. */
  readonly noTools?: string;
  /**
   * Returns failures of the agent as an answer. Rejects with the reason of the signal when it is aborted, after everything it
   * started has ended.
   */
  call(task: AgentTask, watch: Watcher): Promise<AgentAnswer>;
}

export interface AgentTask {
  readonly input: unknown;
  readonly runId: string;
  readonly invocationId: string;
  /** The task of an evaluation. */
  readonly taskId?: string;
  /** From 1. */
  readonly trial?: number;
  readonly systemPrompt?: string;
  /** JSON Schema of what is to be answered. */
  readonly returnSchema?: Readonly<Record<string, unknown>>;
  /** The temperature of a model, instead of that of its settings. */
  readonly temperature?: number;
  /** The output limit of a model, instead of that of its settings, and its multiple for this attempt. */
  readonly outputBudget?: { readonly tokens?: number; readonly times: number };
  /** Only tools that the agent may call. */
  readonly tools: ToolSurface;
  /** The agent's memory at the start of the run. */
  readonly memory: readonly MemoryEntry[];
  readonly signal: AbortSignal;
}

/** Receives the events of an invocation while they happen, in order. */
export interface Watcher {
  reasoning(delta: string): void;
  chunk(text: string): void;
  usage(usage: Usage): void;
  /** A model call broke off and is repeated: its events since the last `usage` do not count and come again. */
  again?(): void;
}

/** The usage of one model call; a program may report its own. */
export interface Usage {
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** Absent: no price is known. */
  readonly costUsd?: number;
}

export type AgentAnswer =
  | {
      readonly type: "completed";
      /** JSON; untrusted. */
      readonly output: unknown;
      readonly confidence?: number;
      readonly handoff?: { readonly toAgentId: string; readonly reason?: string };
      /** How the output was recovered from a text around it. */
      readonly recovered?: "markdown-fence";
    }
  /** The agent, or its provider for it, declined. */
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "failed"; readonly error: AgentFailure };

export interface AgentFailure {
  readonly code: AgentFailureCode;
  /** For the operator of the agent; may quote its answer. */
  readonly message: string;
  /** Whether calling again may help. */
  readonly retryable: boolean;
  /** The kind of text that a model gave instead of an output. */
  readonly instead?: "cut-off" | "prose";
}

export const AGENT_FAILURE_CODES = [
  "agent_unreachable",
  "agent_rate_limited",
  "agent_timeout",
  "agent_crashed",
  "agent_output_too_large",
  "agent_task_invalid",
  "agent_output_invalid",
  "agent_not_configured",
  "agent_error",
] as const;
export type AgentFailureCode = (typeof AGENT_FAILURE_CODES)[number];
