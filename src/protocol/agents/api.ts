import { Count, closed, Name, Share, type Static, Timestamp, Type } from "../schema.ts";
import { MemoryShape } from "./agent-manifest.ts";
import { SEVERITIES } from "./severity.ts";

export const MEMORY_DIMENSIONS = [
  "read",
  "write",
  "search",
  "long-term-durability",
  "compaction",
  "attribution",
  "replay-snapshot",
  "retention",
] as const;
export type MemoryDimension = (typeof MEMORY_DIMENSIONS)[number];

/** The public description of an agent: never its prompt, its schemas, or a key. */
export const AgentEntry = Type.Object(
  {
    agentId: Name,
    persona: Name,
    label: Name,
    modelClass: Name,
    packName: Name,
    packVersion: Name,
    toolAllowlist: Type.Array(Type.String(), { description: "what it may call; empty is nothing" }),
    hasHandoffSchemas: Type.Boolean(),
    description: Type.Optional(Type.String()),
    memoryShape: Type.Optional(MemoryShape),
    confidenceThreshold: Type.Optional(Share),
    degraded: Type.Optional(Type.Array(Type.String(), { description: "what it needs and this host does not serve" })),
    memoryDegraded: Type.Optional(Type.Boolean()),
    degradedMemoryDimensions: Type.Optional(Type.Array(Type.Enum([...MEMORY_DIMENSIONS]))),
  },
  closed,
);
export type AgentEntry = Static<typeof AgentEntry>;

export const AgentInventory = Type.Object({ agents: Type.Array(AgentEntry), total: Count }, closed);
export type AgentInventory = Static<typeof AgentInventory>;

export const AgentVersion = Type.Object(
  {
    version: Name,
    packName: Name,
    contentHash: Type.String({ pattern: "^[0-9a-f]{64}$", description: "of the agent with its prompt and schemas" }),
    active: Type.Boolean({ description: "whether this version is deployed and active" }),
    callable: Type.Boolean({ description: "whether this host knows how to call it" }),
    hostWide: Type.Boolean({ description: "whether it is there for every tenant" }),
    workspace: Type.Optional(Name),
    evalSuiteRef: Type.Optional(Type.String({ description: "the suite it brought, as id@version" })),
    signedBy: Type.Optional(
      Type.String({ description: "the publisher who signed its pack; absent when it is unsigned" }),
    ),
    installedBy: Name,
    installedAt: Type.Optional(Type.String({ description: "absent: it was not installed, the host has it of itself" })),
  },
  closed,
);
export type AgentVersion = Static<typeof AgentVersion>;

export const AgentVersions = Type.Object(
  { agentId: Name, versions: Type.Array(AgentVersion, { description: "the highest first" }) },
  closed,
);
export type AgentVersions = Static<typeof AgentVersions>;

export const InstallPackResponse = Type.Object(
  {
    packName: Name,
    packVersion: Name,
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$", description: "of the list of its files" }),
    signedBy: Type.Optional(Name),
    agents: Type.Array(Name, { description: "the ids of its agents" }),
    suites: Type.Array(Name, { description: "the suites it brought, as id@version" }),
    created: Type.Boolean({ description: "false when the same pack was here already" }),
  },
  closed,
);
export type InstallPackResponse = Static<typeof InstallPackResponse>;

/** Memories of an agent. */
export const MemoryEntry = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 1500 }),
    content: Type.String(),
    tags: Type.Array(Type.String({ maxLength: 256 })),
    createdAt: Timestamp,
    expiresAt: Type.Optional(Timestamp),
  },
  closed,
);
export type MemoryEntry = Static<typeof MemoryEntry>;

export const SAFETY_KINDS = [
  "prompt-injection",
  "data-leak",
  "unsafe-tool-use",
  "harmful-content",
  "policy-violation",
  "other",
] as const;
export type SafetyKind = (typeof SAFETY_KINDS)[number];

/** The public part of a finding: nothing of the text it was found in. */
export const SafetyFinding = Type.Object(
  { kind: Type.Enum([...SAFETY_KINDS]), severity: Type.Enum([...SEVERITIES]) },
  closed,
);
export type SafetyFinding = Static<typeof SafetyFinding>;
