import type { MemoryEntry } from "../protocol/agents/memory.ts";
import type { Owner, Visibility } from "../protocol/identity/identity.ts";
import type { Binding } from "./binding.ts";
import type { Deployments } from "./deployments/deployments.ts";
import type { InstalledAgent } from "./installed-agent.ts";
import type { ListOptions } from "./memory/memory-adapter.ts";
import type { ModelChoice } from "./model-choice.ts";
import type { ToolSurface } from "./tool-surface.ts";

/** The agents of a host, and how they are called. Built once, where the process is wired. */
export interface Agents {
  /** Agents installed for the caller, the caller's own before those of the host; the highest version first. */
  versionsOf(visible: Visibility, agentId: string): Promise<readonly InstalledAgent[]>;
  /** Agents that exist for every tenant without installation. */
  readonly builtIn?: readonly InstalledAgent[];
  /** Deployments of an agent that hold for every tenant until it decides about the agent itself. */
  fixedDeployments?(agentId: string): Deployments | undefined;
  /** Versions that are deployed and active. */
  activeVersions(visible: Visibility, agentId: string): Promise<readonly string[]>;
  /** Versions for runs that name none, the highest first; undefined before any was active. Absent: nothing is ever deployed. */
  unnamedVersions?(visible: Visibility, agentId: string): Promise<readonly string[] | undefined>;
  /** Whether the content of an agent is what was promoted under its version. Absent: nothing is installed under a version that is deployed. */
  isPromoted?(visible: Visibility, agent: InstalledAgent): Promise<boolean>;
  /** Undefined where the agents file has no binding of this agent for this tenant. */
  bindingFor(agent: InstalledAgent, choice: ModelChoice | undefined, tenant: string): Binding | undefined;
  /** Live tools, cut down to what the agent may call. Rejects when a source of tools it names cannot be reached. */
  toolsFor(agent: InstalledAgent, signal: AbortSignal, tenant: string): Promise<ToolSurface>;
  /** The agent's memory; empty where its manifest asks for none. */
  memoryFor(owner: Owner, agent: InstalledAgent, options?: ListOptions): Promise<readonly MemoryEntry[]>;
}
