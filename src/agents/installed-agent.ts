import type { ModelClass } from "../protocol/evals/eval-suite.ts";

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
