import type { Agents, InstalledAgent } from "../../agents/agents.ts";
import type { Binding } from "../../agents/binding.ts";
import type { MemoryAdapter } from "../../agents/memory/memory-adapter.ts";
import type { Host } from "../../engine/host.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { Owner } from "../../protocol/identity/identity.ts";
import type { EvidenceSources } from "../evidence/evidence-reader.ts";
import type { Judge } from "../judge/judge.ts";
import type { EvalPlan } from "./eval-plan.ts";

/** Services for evaluations from the process they run in. */
export interface EvalServices {
  readonly agents: Agents;
  /** Absent: rubrics cannot be served. */
  readonly judge?: Judge;
  readonly settings: EvalSettings;
  /** Memories of agents, needed to make a task from a run; absent where they are not kept. */
  readonly memory?: Pick<MemoryAdapter, "list">;
  /** Judgments and certificates about evaluations, for deployments that require them. */
  readonly evidence?: EvidenceSources;
  /** The database is the file of one person, who names the sidecars: imported verdicts are gold for that person's own certificates. */
  readonly importedGold?: true;
}

export interface EvalSettings {
  readonly maxTasksPerSuite: number;
  /** Absent: no cap. */
  readonly maxCostUsdPerSuite?: number;
  /** Tasks at once, where the caller names no number. */
  readonly concurrency: number;
  /** The most that a caller may ask for. */
  readonly maxConcurrency: number;
  readonly maxTrials: number;
  /** The age up to which a cached result is used. */
  readonly cacheMs: number;
}

/** One evaluation under way. */
export interface EvalRun {
  readonly host: Pick<Host, "store" | "scrubber" | "nowMs" | "newId">;
  readonly services: EvalServices;
  readonly runId: string;
  readonly nodeId: string;
  readonly owner: Owner;
  readonly plan: EvalPlan;
  readonly suite: AgentEvalSuite;
  readonly agent: InstalledAgent;
  readonly binding: Binding;
  readonly signal: AbortSignal;
}
