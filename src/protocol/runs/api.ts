import { DRAIN_POLICIES, RunEventDoc } from "../events.ts";
import { PRINCIPAL_KINDS } from "../identity/identity.ts";
import { Groups } from "../identity/role-api.ts";
import {
  closed,
  Id,
  Instant,
  JsonObject,
  Name,
  open,
  Positive,
  pageOf,
  Share,
  ShortName,
  type Static,
  Type,
} from "../schema.ts";
import { RunStatusSchema } from "./run-status.ts";
import { RunSnapshot } from "./snapshot.ts";

/** Request and response bodies of every route. Requests are closed: an unknown property is refused, not ignored. */
const Reason = Type.String({ maxLength: 512 });

export const ErrorEnvelope = Type.Object(
  {
    error: Name,
    message: Name,
    details: Type.Optional(JsonObject),
  },
  closed,
);
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;

/** Keys with a meaning of their own; others pass through unless the workflow's configurableSchema forbids them. */
export const Configurable = Type.Object(
  {
    recursionLimit: Type.Optional(Positive),
    model: Type.Optional(Name),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    maxTokens: Type.Optional(Positive),
    promptOverrides: Type.Optional(Type.Record(Type.String(), Type.String())),
    mockProvider: Type.Optional(Type.Object({ id: Id, config: Type.Optional(JsonObject) }, closed)),
    runTimeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000_000 })),
    maxLoopIterations: Type.Optional(Positive),
    escalationThreshold: Type.Optional(Share),
    reasoningVerbosity: Type.Optional(Type.Enum(["summary", "full", "off"])),
    ai: Type.Optional(
      Type.Object(
        {
          provider: Type.Optional(Name),
          model: Type.Optional(Name),
          credentialRef: Type.Optional(Name),
        },
        open,
      ),
    ),
    budget: Type.Optional(JsonObject),
  },
  open,
);

export const CreateRunRequest = Type.Object(
  {
    workflowId: Type.Optional(Id),
    inputs: Type.Optional(JsonObject),
    tenantId: Type.Optional(ShortName),
    scopeId: Type.Optional(ShortName),
    callbackUrl: Type.Optional(Type.String({ minLength: 1, maxLength: 2048, pattern: "^https?://" })),
    mode: Type.Optional(Type.Literal("eval")),
    evalSuiteRef: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          "id@version, the URI of a suite on this host, or an https URI that ends with #sha256= and the digest of the file",
      }),
    ),
    agentId: Type.Optional(ShortName),
    configurable: Type.Optional(Configurable),
    tags: Type.Optional(Type.Array(ShortName, { maxItems: 100 })),
    metadata: Type.Optional(JsonObject),
  },
  closed,
);
export type CreateRunRequest = Static<typeof CreateRunRequest>;

export const CreateRunResponse = Type.Object(
  { runId: Type.String(), status: RunStatusSchema, eventsUrl: Type.String(), statusUrl: Type.String() },
  closed,
);
export type CreateRunResponse = Static<typeof CreateRunResponse>;

export const ListRunsResponse = pageOf("runs", RunSnapshot);

export const CancelRunRequest = Type.Object({ reason: Type.Optional(Reason) }, closed);
export type CancelRunRequest = Static<typeof CancelRunRequest>;
export const CancelRunResponse = Type.Object({ runId: Type.String(), status: RunStatusSchema }, closed);
export type CancelRunResponse = Static<typeof CancelRunResponse>;

export const MAX_BULK_RUN_IDS = 100;

export const BulkCancelRequest = Type.Object(
  {
    runIds: Type.Array(Id, { minItems: 1, maxItems: MAX_BULK_RUN_IDS }),
    reason: Type.Optional(Reason),
  },
  closed,
);
export type BulkCancelRequest = Static<typeof BulkCancelRequest>;

export const BulkCancelResponse = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          runId: Type.String(),
          ok: Type.Boolean(),
          status: Type.Optional(RunStatusSchema),
          error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() }, closed)),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type BulkCancelResponse = Static<typeof BulkCancelResponse>;

export const PauseRunRequest = Type.Object(
  { reason: Type.Optional(Reason), drainPolicy: Type.Optional(Type.Enum([...DRAIN_POLICIES])) },
  closed,
);
export type PauseRunRequest = Static<typeof PauseRunRequest>;
export const PauseRunResponse = Type.Object(
  { runId: Type.String(), status: Type.Literal("paused"), pausedAt: Type.Optional(Type.String()) },
  closed,
);
export type PauseRunResponse = Static<typeof PauseRunResponse>;

export const ResumeRunRequest = Type.Object({ reason: Type.Optional(Reason) }, closed);
export type ResumeRunRequest = Static<typeof ResumeRunRequest>;
export const ResumeRunResponse = Type.Object(
  { runId: Type.String(), status: Type.Literal("running"), resumedAt: Type.Optional(Type.String()) },
  closed,
);
export type ResumeRunResponse = Static<typeof ResumeRunResponse>;

/** Both generations of the poll body at once: `isComplete` is the older name of `isTerminal`. */
export const PollResponse = Type.Object(
  {
    runId: Type.String(),
    events: Type.Array(RunEventDoc),
    isComplete: Type.Boolean(),
    isTerminal: Type.Boolean(),
    lastSequence: Type.Integer({ minimum: -1 }),
    status: RunStatusSchema,
  },
  closed,
);

export const EventListResponse = Type.Object({ events: Type.Array(RunEventDoc) }, closed);

const Names = Type.Array(Id, { minItems: 1, maxItems: 64 });
const OpaqueId = Type.String({ minLength: 1, maxLength: 256, pattern: "^[\\x21-\\x7e]+$" });

export const CreateKeyRequest = Type.Object(
  {
    principal: OpaqueId,
    kind: Type.Optional(Type.Enum([...PRINCIPAL_KINDS])),
    workspace: Type.Optional(OpaqueId),
    roles: Type.Optional(Names),
    groups: Type.Optional(Groups),
    scopes: Type.Optional(Names),
    label: Type.Optional(ShortName),
    expiresAt: Type.Optional(Instant),
  },
  closed,
);
export type CreateKeyRequest = Static<typeof CreateKeyRequest>;

/** A key as it can be shown: never the key itself, never its hash. */
export const KeyInfo = Type.Object(
  {
    keyId: Type.String(),
    tenant: Type.String(),
    workspace: Type.Optional(Type.String()),
    principal: Type.String(),
    kind: Type.Enum([...PRINCIPAL_KINDS]),
    roles: Type.Array(Type.String()),
    groups: Type.Array(Type.String()),
    scopes: Type.Array(Type.String()),
    label: Type.Optional(Type.String()),
    createdAt: Type.String(),
    expiresAt: Type.Optional(Type.String()),
    revokedAt: Type.Optional(Type.String()),
    lastUsedAt: Type.Optional(Type.String()),
  },
  closed,
);
export type KeyInfo = Static<typeof KeyInfo>;

/** The only place where a key is ever shown. */
export const CreateKeyResponse = Type.Object({ key: Type.String(), info: KeyInfo }, closed);
export type CreateKeyResponse = Static<typeof CreateKeyResponse>;

export const ListKeysResponse = Type.Object({ keys: Type.Array(KeyInfo) }, closed);

export const WhoAmIResponse = Type.Object(
  {
    tenant: Type.String(),
    workspace: Type.Optional(Type.String()),
    principal: Type.String(),
    kind: Type.Enum([...PRINCIPAL_KINDS]),
    roles: Type.Array(Type.String()),
    groups: Type.Array(Type.String()),
    scopes: Type.Array(Type.String()),
  },
  closed,
);

/** One entry of a `--keys` file. */
export const KeyFileEntry = Type.Object(
  {
    key: Type.String({ minLength: 16, maxLength: 512, pattern: "^[\\x21-\\x7e]+$" }),
    tenant: OpaqueId,
    workspace: Type.Optional(OpaqueId),
    principal: OpaqueId,
    kind: Type.Optional(Type.Enum([...PRINCIPAL_KINDS])),
    roles: Type.Optional(Type.Array(Id, { maxItems: 64 })),
    groups: Type.Optional(Groups),
    scopes: Type.Optional(Type.Array(Id, { maxItems: 64 })),
    label: Type.Optional(ShortName),
    expiresAt: Type.Optional(Instant),
  },
  closed,
);
export type KeyFileEntry = Static<typeof KeyFileEntry>;
export const KeyFile = Type.Array(KeyFileEntry, { maxItems: 100_000 });

export const CancelRunsRequest = Type.Object(
  {
    runId: Type.Optional(Id),
    workflowId: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    reason: Type.Optional(Type.String({ maxLength: 512 })),
  },
  { ...closed, description: "Exactly one of runId, a run without a parent, and workflowId." },
);
export type CancelRunsRequest = Static<typeof CancelRunsRequest>;

export const CancelRunsResponse = Type.Object(
  {
    cancelled: Type.Integer({ minimum: 0, description: "Runs that this request cancelled." }),
    failed: Type.Integer({ minimum: 0, description: "Runs that could not be cancelled now." }),
    more: Type.Boolean({ description: "Whether runs are left: send the request again." }),
  },
  closed,
);
export type CancelRunsResponse = Static<typeof CancelRunsResponse>;

export const DeleteRunResponse = Type.Object(
  {
    runId: Type.String(),
    deletedRuns: Type.Array(Type.String(), { description: "The run and those it dispatched, directly or not." }),
    annotations: Type.Integer({ minimum: 0, description: "How many judgments went with them." }),
  },
  closed,
);
export type DeleteRunResponse = Static<typeof DeleteRunResponse>;
