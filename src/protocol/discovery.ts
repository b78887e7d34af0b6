import { AGENT_SURFACES, AgentsFamily } from "./agents/discovery.ts";
import { DRAIN_POLICIES } from "./events.ts";
import { SIGNAL_KINDS, TARGETS } from "./judgments/annotation.ts";
import { FORK_MODES } from "./runs/forked-from.ts";
import { Count, closed, Name, Positive, type Static, Type } from "./schema.ts";

export const PROTOCOL_VERSION = "1.1";
/** Every version that this host serves. */
export const PROTOCOL_VERSIONS: readonly string[] = [PROTOCOL_VERSION];
/** The header that names a version: in requests the one that the client wants, in responses the one that was used. */
export const VERSION_HEADER = "openwop-version";

const MajorMinor = Type.String({ pattern: "^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)$" });

/**
 * `GET /.well-known/openwop`. Families stand at the root and only while they are enforced. The protocol leaves the
 * root open; here it is closed, so that nothing is advertised that is not in this list.
 */
export const Discovery = Type.Object(
  {
    protocolVersion: MajorMinor,
    protocolVersions: Type.Array(MajorMinor, { minItems: 1 }),
    implementation: Type.Object({ name: Name, version: Name }, closed),
    engineVersion: Count,
    eventLogSchemaVersion: Count,
    supportedTransports: Type.Array(Type.Enum(["rest", "mcp", "a2a", "grpc"])),
    supportedEnvelopes: Type.Array(Name),
    schemaVersions: Type.Record(Type.String(), Count),
    limits: Type.Object(
      {
        clarificationRounds: Count,
        schemaRounds: Count,
        envelopesPerTurn: Count,
        maxNodeExecutions: Type.Optional(Positive),
        maxRunDurationMs: Type.Optional(Type.Integer({ minimum: 1000 })),
        maxRequestBodyBytes: Type.Optional(Positive),
      },
      closed,
    ),
    runtimeCapabilities: Type.Optional(Type.Array(Name)),
    runs: Type.Optional(
      Type.Object(
        {
          pauseResume: Type.Object(
            { supported: Type.Literal(true), drainPolicies: Type.Array(Type.Enum([...DRAIN_POLICIES])) },
            closed,
          ),
        },
        closed,
      ),
    ),
    interrupt: Type.Object(
      {
        approverRouting: Type.Object(
          {
            supported: Type.Literal(true),
            refKinds: Type.Array(Type.Enum(["group", "role"])),
            audience: Type.Literal(false),
          },
          closed,
        ),
      },
      closed,
    ),
    authorization: Type.Object(
      {
        supported: Type.Literal(true),
        failClosed: Type.Literal(true),
        roles: Type.Array(Type.Object({ role: Name, scopes: Type.Array(Name) }, closed)),
      },
      closed,
    ),
    auth: Type.Object(
      {
        profiles: Type.Array(Name),
        auditLogIntegrity: Type.Optional(
          Type.Object(
            {
              hashChain: Type.Literal(true),
              checkpointSignatureAlgorithm: Type.Literal("ed25519"),
              checkpointPublicKey: Name,
              checkpointIntervalEntries: Positive,
              checkpointIntervalSeconds: Positive,
            },
            closed,
          ),
        ),
      },
      closed,
    ),
    idempotency: Type.Object(
      {
        supported: Type.Literal(true),
        layer1RetentionSeconds: Positive,
        layer2RetentionSeconds: Positive,
        crossRegion: Type.Literal("single-region"),
      },
      closed,
    ),
    feedback: Type.Optional(
      Type.Object(
        {
          supported: Type.Boolean(),
          targets: Type.Array(Type.Enum([...TARGETS])),
          signals: Type.Array(Type.Enum([...SIGNAL_KINDS])),
        },
        closed,
      ),
    ),
    webhooks: Type.Optional(
      Type.Object(
        {
          supported: Type.Literal(true),
          signatureAlgorithms: Type.Array(Type.Literal("v1")),
          durable: Type.Literal(true),
        },
        closed,
      ),
    ),
    replay: Type.Optional(
      Type.Object(
        {
          supported: Type.Literal(true),
          modes: Type.Array(Type.Enum([...FORK_MODES])),
          sideEffectSuppression: Type.Literal("recorded-outcome"),
        },
        closed,
      ),
    ),
    subWorkflow: Type.Object({ inputMapping: Type.Literal(true) }, closed),
    secrets: Type.Optional(
      Type.Object(
        {
          supported: Type.Literal(true),
          scopes: Type.Array(Type.Enum(["tenant", "user", "run", "workspace"])),
          resolution: Type.Literal("host-managed"),
        },
        closed,
      ),
    ),
    ...AGENT_SURFACES,
    modelCapabilities: Type.Optional(
      Type.Object(
        {
          supported: Type.Literal(true),
          advertised: Type.Array(Name),
          substitutionSupported: Type.Literal(false),
        },
        closed,
      ),
    ),
    agents: Type.Optional(AgentsFamily),
    multiAgent: Type.Optional(
      Type.Object(
        {
          executionModel: Type.Object(
            {
              supported: Type.Literal(true),
              version: Positive,
              confidenceEscalationFloor: Type.Number({ minimum: 0.5, maximum: 1 }),
              confidenceEscalationInterruptKind: Type.Literal("clarification"),
              crossChildMemoryConcurrency: Type.Literal("strict"),
            },
            closed,
          ),
        },
        closed,
      ),
    ),
    debugBundle: Type.Optional(Type.Object({ supported: Type.Literal(true) }, closed)),
    observability: Type.Optional(
      Type.Object({ testSeams: Type.Object({ debugBundleExport: Type.Literal(true) }, closed) }, closed),
    ),
    fixtures: Type.Optional(Type.Array(Name)),
    extensions: Type.Object(
      {
        interrupts: Type.Object(
          {
            profiles: Type.Array(Name),
            signedCallbackTokens: Type.Literal(true),
            tokenTtlSeconds: Positive,
            externalEventRetentionSeconds: Positive,
            defaultGateTimeoutSeconds: Type.Optional(Positive),
          },
          closed,
        ),
        assay: Type.Object(
          {
            routes: Name,
            openapi: Name,
            asyncapi: Name,
            schemas: Name,
            console: Type.Optional(Name),
            reviews: Type.Optional(Name),
          },
          closed,
        ),
      },
      closed,
    ),
  },
  closed,
);
export type Discovery = Static<typeof Discovery>;

/**
 * Whether discovery advertises a capability: by its place in the document, as in `agents.liveRuntime`, where what is in a list is a
 * last step, or among the runtime capabilities. Some texts put `host.` before a family.
 */
export function advertises(document: Discovery, capability: string): boolean {
  if (document.runtimeCapabilities?.includes(capability)) return true;
  const steps = capability.replace(/^host\./, "").split(".");
  let found: unknown = document;
  for (const step of steps) {
    if (Array.isArray(found)) found = found.includes(step);
    else if (isRecord(found) && Object.hasOwn(found, step)) found = found[step];
    else return false;
  }
  return found === true || (isRecord(found) && found["supported"] === true);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
