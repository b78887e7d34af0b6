import { MODEL_CLASSES } from "../evals/eval-suite.ts";
import { closed, JsonObject, Name, open, Share, ShortName, type Static, Type } from "../schema.ts";
import { SEMVER_LENGTH_MAX, SEMVER_PATTERN } from "../semver.ts";

const Path = Type.String({ minLength: 1, maxLength: 512, description: "a file of the pack" });
const Texts = Type.Record(Type.String(), Type.String());

export const AGENT_ID_PATTERN = "^(core|vendor|community|private|local)\\.[a-z][a-z0-9_-]*(\\.[a-z][a-zA-Z0-9_-]*)+$";

/** `host:<id>` is for agents that no pack brings, so no manifest has such an id. */
export const AgentId = Type.String({ pattern: AGENT_ID_PATTERN, minLength: 3, maxLength: 256 });

export const MemoryShape = Type.Object(
  {
    scratchpad: Type.Optional(Type.Boolean()),
    conversation: Type.Optional(Type.Boolean()),
    longTerm: Type.Optional(Type.Boolean()),
  },
  closed,
);

const PromptRef = Type.Union([Name, JsonObject]);

/** An agent as its pack describes it. */
export const AgentManifest = Type.Object(
  {
    agentId: AgentId,
    persona: Type.String({ minLength: 1, maxLength: 200 }),
    modelClass: Type.Enum([...MODEL_CLASSES]),
    systemPrompt: Type.Optional(Name),
    systemPromptRef: Type.Optional(Path),
    evalSuiteRef: Type.Optional(Path),
    toolAllowlist: Type.Optional(Type.Array(ShortName, { maxItems: 1000 })),
    requiresCapabilities: Type.Optional(Type.Array(ShortName, { uniqueItems: true, maxItems: 100 })),
    memoryShape: Type.Optional(MemoryShape),
    confidence: Type.Optional(Type.Object({ defaultThreshold: Type.Optional(Share) }, closed)),
    handoff: Type.Optional(
      Type.Object({ taskSchemaRef: Type.Optional(Path), returnSchemaRef: Type.Optional(Path) }, closed),
    ),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    description: Type.Optional(Type.String({ maxLength: 500 })),
    promptLibraryRef: Type.Optional(Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,127}$" })),
    promptOverrides: Type.Optional(
      Type.Object(
        {
          system: Type.Optional(PromptRef),
          user: Type.Optional(PromptRef),
          "few-shot": Type.Optional(PromptRef),
          "schema-hint": Type.Optional(PromptRef),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type AgentManifest = Static<typeof AgentManifest>;

export const PackName = Type.String({ pattern: AGENT_ID_PATTERN, maxLength: 256 });
export const PackVersion = Type.String({ pattern: SEMVER_PATTERN, maxLength: SEMVER_LENGTH_MAX });

/** `pack.json`, of a pack that brings agents. Members that such a pack does not need are left out. */
export const PackManifest = Type.Object(
  {
    kind: Type.Optional(Type.Literal("node")),
    name: PackName,
    version: PackVersion,
    description: Type.Optional(Type.String({ maxLength: 1024 })),
    author: Type.Optional(Type.String({ maxLength: 1024 })),
    license: Type.Optional(Type.String({ maxLength: 256 })),
    homepage: Type.Optional(Type.String({ maxLength: 2048 })),
    repository: Type.Optional(Type.String({ maxLength: 2048 })),
    keywords: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 })),
    engines: Type.Object({ openwop: Name }, open),
    dependencies: Type.Optional(Texts),
    peerDependencies: Type.Optional(Texts),
    peerDependenciesMeta: Type.Optional(
      Type.Record(Type.String(), Type.Object({ optional: Type.Optional(Type.Boolean()) }, closed)),
    ),
    nodes: Type.Optional(Type.Array(Type.Unknown())),
    agents: Type.Array(AgentManifest, { minItems: 1, maxItems: 100 }),
    runtime: Type.Object(
      {
        language: Type.Literal("remote", { description: "agents are interpreted by the host" }),
        entry: Name,
        format: Type.Optional(Name),
        minRuntimeVersion: Type.Optional(Name),
        requires: Type.Optional(Type.Array(Name)),
      },
      closed,
    ),
    signing: Type.Optional(
      Type.Object(
        {
          publicKeyRef: Type.Optional(Name),
          signatureRef: Type.Optional(Name),
          method: Type.Optional(Type.Enum(["manual", "sigstore"])),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type PackManifest = Static<typeof PackManifest>;
