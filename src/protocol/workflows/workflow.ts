import { Count, Cursor, closed, Id, JsonObject, open, Positive, ShortName, type Static, Type } from "../schema.ts";

const ShortText = Type.String({ maxLength: 4096 });
const Instant = Type.String({ maxLength: 64 });

/** Where a node's input comes from. */
export const PortValue = Type.Union([
  Type.Object({ type: Type.Literal("static"), value: Type.Unknown() }, closed),
  Type.Object({ type: Type.Literal("expression"), expression: Type.String({ minLength: 1, maxLength: 4096 }) }, closed),
  Type.Object(
    {
      type: Type.Literal("connection"),
      nodeId: Id,
      outputKey: ShortName,
      optional: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal("variable"),
      variableName: ShortName,
      optional: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
]);
export type PortValue = Static<typeof PortValue>;

export const EdgeCondition = Type.Object(
  {
    type: Type.Optional(Type.Enum(["expression", "equals", "notEquals", "contains", "regex", "truthy", "falsy"])),
    left: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    right: Type.Optional(Type.Unknown()),
    expression: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  },
  closed,
);
export type EdgeCondition = Static<typeof EdgeCondition>;

export const TRIGGER_RULES = ["all_success", "any_success", "all_complete", "none_failed", "any_failed"] as const;
export type TriggerRule = (typeof TRIGGER_RULES)[number];

export const WorkflowEdge = Type.Object(
  {
    id: ShortName,
    sourceNodeId: Id,
    targetNodeId: Id,
    sourceOutput: Type.Optional(Type.String({ maxLength: 256 })),
    targetInput: Type.Optional(Type.String({ maxLength: 256 })),
    condition: Type.Optional(EdgeCondition),
    label: Type.Optional(ShortText),
    triggerRule: Type.Optional(Type.Enum([...TRIGGER_RULES])),
  },
  closed,
);
export type WorkflowEdge = Static<typeof WorkflowEdge>;

/** Words of their own: manifests have others for what a model is good at. */
const REF_MODEL_CLASSES = [
  ...["reasoning", "tool-using", "chat", "code", "vision", "multimodal", "embedding", "classification", "retrieval"],
] as const;

/** A pinned or channel-resolved agent; which of its forms a host serves is decided at registration. */
export const AgentRef = Type.Object(
  {
    agentId: Type.String({ minLength: 3, maxLength: 256 }),
    name: Type.Optional(Type.String({ maxLength: 1024 })),
    modelClass: Type.Optional(Type.Enum([...REF_MODEL_CLASSES])),
    memoryRef: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    version: Type.Optional(Id),
    channel: Type.Optional(Id),
    sourceManifestId: Cursor,
  },
  closed,
);
export type AgentRef = Static<typeof AgentRef>;

export const WorkflowNode = Type.Object(
  {
    id: Id,
    typeId: Type.String({ minLength: 1, maxLength: 256, pattern: "^[a-z][a-zA-Z0-9._-]*$" }),
    name: Type.String({ minLength: 1, maxLength: 1024 }),
    position: Type.Object({ x: Type.Number(), y: Type.Number() }, open),
    config: JsonObject,
    inputs: Type.Record(Type.String(), PortValue),
    credentialsRef: Type.Optional(Type.String({ maxLength: 1024 })),
    settings: Type.Optional(JsonObject),
    outputRole: Type.Optional(Type.Enum(["primary", "secondary"])),
    disabled: Type.Optional(Type.Boolean()),
    notes: Type.Optional(Type.String()),
    groupId: Type.Optional(Type.String({ maxLength: 256 })),
    agent: Type.Optional(AgentRef),
    envelopeContract: Type.Optional(JsonObject),
    artifactType: Type.Optional(Type.String({ maxLength: 256 })),
    cardType: Type.Optional(Type.String({ maxLength: 256 })),
    outputSensitivity: Type.Optional(Type.Record(Type.String(), Type.Boolean())),
  },
  closed,
);
export type WorkflowNode = Static<typeof WorkflowNode>;

export const VARIABLE_TYPES = ["string", "number", "boolean", "object", "array"] as const;

export const WorkflowVariable = Type.Object(
  {
    name: ShortName,
    type: Type.Enum([...VARIABLE_TYPES]),
    description: Type.Optional(Type.String()),
    required: Type.Optional(Type.Boolean()),
    defaultValue: Type.Optional(Type.Unknown()),
    sensitive: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type WorkflowVariable = Static<typeof WorkflowVariable>;

const AccessList = Type.Array(Type.String({ maxLength: 256, pattern: "^([a-z][a-zA-Z0-9._-]*\\*?|\\*)$" }), {
  maxItems: 256,
  uniqueItems: true,
});

export const BUILT_IN_REDUCERS = ["replace", "append", "merge", "counter", "votes", "feedback", "message"] as const;
const VENDOR_REDUCER = "vendor\\.[a-z][a-z0-9_-]*\\.[a-z][a-z0-9_-]*";
export const Reducer = Type.String({ pattern: `^(${BUILT_IN_REDUCERS.join("|")}|${VENDOR_REDUCER})$` });

export const ChannelDeclaration = Type.Object(
  {
    reducer: Reducer,
    description: Type.Optional(Type.String()),
    schema: Type.Optional(JsonObject),
    default: Type.Optional(Type.Unknown()),
    maxSize: Type.Optional(Positive),
    ttlMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000_000 })),
    options: Type.Optional(JsonObject),
    access: Type.Optional(
      Type.Union([
        Type.Literal("public"),
        Type.Literal("private"),
        Type.Object({ readers: Type.Optional(AccessList), writers: Type.Optional(AccessList) }, closed),
      ]),
    ),
    schemaVersion: Type.Optional(Positive),
    compatibleWith: Type.Optional(Type.Array(Positive, { uniqueItems: true, maxItems: 256 })),
    sensitive: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type ChannelDeclaration = Static<typeof ChannelDeclaration>;

const TRIGGER_TYPES = [
  "manual",
  "schedule",
  "webhook",
  "event",
  "artifact",
  "canvas",
  "envelope",
  "command",
  "chat-message",
  "channel-write",
] as const;

export const WorkflowTrigger = Type.Object(
  {
    id: ShortName,
    type: Type.Enum([...TRIGGER_TYPES]),
    name: Type.Optional(ShortText),
    description: Type.Optional(Type.String()),
    config: Type.Optional(JsonObject),
    enabled: Type.Optional(Type.Boolean()),
    nodeId: Type.Optional(Id),
    eventType: Type.Optional(Type.String({ maxLength: 256 })),
  },
  closed,
);

const NodeGroup = Type.Object(
  {
    id: ShortName,
    name: Type.String({ minLength: 1, maxLength: 1024 }),
    color: Type.Optional(Type.String({ maxLength: 64 })),
    collapsed: Type.Optional(Type.Boolean()),
    nodeIds: Type.Array(Id),
    position: Type.Object({ x: Type.Number(), y: Type.Number() }, open),
    size: Type.Object({ width: Type.Number(), height: Type.Number() }, open),
  },
  closed,
);

const WorkflowMetadata = Type.Object(
  {
    createdBy: Type.Optional(Type.String()),
    createdAt: Type.Optional(Instant),
    updatedBy: Type.Optional(Type.String()),
    updatedAt: Type.Optional(Instant),
    tags: Type.Optional(Type.Array(ShortName, { maxItems: 100 })),
    category: Type.Optional(Type.String()),
    author: Type.Optional(Type.String()),
    codeVersion: Type.Optional(Type.String()),
    forkedFrom: Type.Optional(Type.String()),
    clonedFrom: Type.Optional(Type.String()),
    complianceClass: Type.Optional(Type.Enum(["public", "pii", "phi", "pci", "regulated"])),
    complianceConfig: Type.Optional(
      Type.Object({ maskingMode: Type.Optional(Type.Enum(["mask", "omit", "hash", "passthrough"])) }, open),
    ),
    customProperties: Type.Optional(JsonObject),
  },
  open,
);

const WorkflowSettings = Type.Object(
  {
    timeout: Type.Optional(Count),
    maxRetries: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    logLevel: Type.Optional(Type.Enum(["debug", "info", "warn", "error"])),
    maxLoopbackIterations: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    /** Ours: how long runs are kept after they have ended; 0 is for ever. */
    retentionDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 36_500 })),
  },
  open,
);

export const WORKFLOW_ID_PATTERN = "^[a-z][a-z0-9_-]*$";

/** A workflow as its author writes it. Closed: what the host does not understand it does not accept. */
export const WorkflowDefinition = Type.Object(
  {
    id: Type.String({ pattern: WORKFLOW_ID_PATTERN, maxLength: 128 }),
    name: ShortName,
    version: Id,
    nodes: Type.Array(WorkflowNode, { minItems: 1, maxItems: 5000 }),
    edges: Type.Array(WorkflowEdge, { maxItems: 20_000 }),
    triggers: Type.Array(WorkflowTrigger, { maxItems: 1000 }),
    variables: Type.Array(WorkflowVariable, { maxItems: 1000 }),
    metadata: WorkflowMetadata,
    settings: WorkflowSettings,
    description: Type.Optional(Type.String()),
    type: Type.Optional(Type.String({ maxLength: 256 })),
    isActive: Type.Optional(Type.Boolean()),
    status: Type.Optional(Type.Enum(["active", "inactive", "draft", "archived"])),
    tenantId: Type.Optional(Type.String({ maxLength: 256 })),
    scopeId: Type.Optional(Type.String({ maxLength: 256 })),
    slug: Type.Optional(Type.String({ pattern: "^[a-z0-9][a-z0-9_-]*$", maxLength: 256 })),
    groups: Type.Optional(Type.Array(NodeGroup)),
    channels: Type.Optional(Type.Record(Type.String(), ChannelDeclaration)),
    configurableSchema: Type.Optional(JsonObject),
    defaults: Type.Optional(
      Type.Object(
        {
          promptRefs: Type.Optional(
            Type.Object(
              {
                system: Type.Optional(Type.Unknown()),
                user: Type.Optional(Type.Unknown()),
                "few-shot": Type.Optional(Type.Unknown()),
                "schema-hint": Type.Optional(Type.Unknown()),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
    acceptsInheritedArtifacts: Type.Optional(Type.Array(JsonObject)),
    createdAt: Type.Optional(Instant),
    updatedAt: Type.Optional(Instant),
  },
  closed,
);
export type WorkflowDefinition = Static<typeof WorkflowDefinition>;

export const DEFAULT_MAX_LOOPBACK_ITERATIONS = 5;

export const RegisterWorkflowResponse = Type.Object(
  {
    workflowId: Type.String(),
    version: Type.String(),
    hash: Type.String(),
    created: Type.Boolean(),
    scrubbed: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "how many texts of the definition held a secret, which was not stored; runs get `[REDACTED]` there",
      }),
    ),
  },
  closed,
);
export type RegisterWorkflowResponse = Static<typeof RegisterWorkflowResponse>;

export const ListWorkflowsResponse = Type.Object(
  {
    workflows: Type.Array(
      Type.Object({ id: Type.String(), name: Type.String(), version: Type.String(), hash: Type.String() }, closed),
    ),
    nextCursor: Type.Optional(Type.String()),
  },
  closed,
);
