import type { MemoryEntry } from "../protocol/agents/api.ts";
import type { ModelClass } from "../protocol/evals/eval-suite.ts";
import type { Owner, Visibility } from "../protocol/identity/identity.ts";
import type { Binding } from "./binding.ts";
import type { Deployments } from "./deployments/deployments.ts";
import type { ListOptions } from "./memory/memory-adapter.ts";
import type { ModelChoice } from "./models/model-settings.ts";
import type { ToolSurface } from "./tool-surface.ts";

/** The agents of a host, and how they are called. Built once, where the process is wired. */
export interface Agents {
  /** Agents installed for the caller, the caller's own before those of the host; the highest version first. */
  versionsOf(visible: Visibility, agentId: string, wanted?: WantedVersions): Promise<readonly InstalledAgent[]>;
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

/** The versions that a caller uses: the others, which may be megabytes, need not be read. More may be returned. */
export type WantedVersions =
  | { readonly version: string }
  | { readonly highest: true }
  /** All of them, without their prompts and schemas. */
  | { readonly texts: false };

/** An agent as it was installed: its manifest with everything it refers to. Never changed; a new version is another one. */
export interface InstalledAgent {
  readonly agentId: string;
  /** The version of its pack. */
  readonly version: string;
  readonly packName: string;
  readonly persona: string;
  readonly label?: string;
  readonly description?: string;
  readonly modelClass: ModelClass;
  readonly systemPrompt: string;
  /** `<scope>:<tool-id>`; no list is no tools. */
  readonly toolAllowlist: readonly string[];
  /** False: a program or endpoint that no pack brought. It may call the tools that the fixtures of its task name. */
  readonly hasManifest?: false;
  /** JSON Schemas of what it is asked and what it answers. */
  readonly taskSchema?: Readonly<Record<string, unknown>>;
  readonly returnSchema?: Readonly<Record<string, unknown>>;
  readonly memoryShape?: {
    readonly scratchpad?: boolean;
    readonly conversation?: boolean;
    readonly longTerm?: boolean;
  };
  readonly confidenceThreshold?: number;
  readonly requiresCapabilities?: readonly string[];
  /** `suiteId@version` of the suite it brought. */
  readonly evalSuiteRef?: string;
  /** SHA-256 of all of the above: what was evaluated is what is deployed. */
  readonly contentHash: string;
}

/** Knows what a channel of an agent is at the moment. */
export interface ChannelResolver {
  /**
   * The version for a run that needs this channel for the first time; undefined where no version is active on it. Runs keep their
   * version, so a run is resolved only once.
   */
  versionFor(asked: {
    readonly owner: Owner;
    readonly runId: string;
    readonly agentId: string;
    readonly channel: string;
  }): Promise<string | undefined>;
  /** Whether a run of this owner could get one now. */
  isActive(owner: Owner, agentId: string, channel: string): Promise<boolean>;
}
