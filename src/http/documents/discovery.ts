import type { Host } from "../../engine/host.ts";
import { SIGNATURE_ALGORITHM } from "../../engine/webhooks/send-delivery.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import { type Discovery, PROTOCOL_VERSION, PROTOCOL_VERSIONS } from "../../protocol/discovery.ts";
import { DRAIN_POLICIES, ENGINE_VERSION, EVENT_LOG_SCHEMA_VERSION } from "../../protocol/events.ts";
import { BUILT_IN_ROLES } from "../../protocol/identity/scopes.ts";
import { SIGNAL_KINDS, TARGETS } from "../../protocol/judgments/annotation.ts";
import { SCHEMAS_PATH } from "../../protocol/published-schemas.ts";
import { AFP_BASE } from "../../protocol/reviews/api.ts";
import { FORK_MODES } from "../../protocol/runs/forked-from.ts";
import { CONFIDENCE_FLOOR } from "../../protocol/runs/orchestrator.ts";
import type { AuditSettings, HttpDeps } from "../pipeline/deps.ts";
import { agentSurfaces, agentsFamily } from "./discovery-agents.ts";

export interface Discovered {
  readonly version: string;
  readonly host: Pick<
    Host,
    "capabilities" | "limits" | "idempotency" | "effects" | "runtimeCapabilities" | "gates" | "tokens" | "model"
  >;
  readonly maxRequestBodyBytes: number;
  readonly audit: AuditSettings;
  readonly console: boolean;
  readonly evals: Pick<EvalServices, "judge" | "settings">;
  /** Ids of the registered workflows; given only while the conformance routes are on. */
  readonly fixtures?: readonly string[];
}

export function discoveredOf(
  deps: Pick<HttpDeps, "version" | "host" | "settings" | "audit" | "consoleDir" | "evals">,
): Discovered {
  const { version, host, settings, audit, evals } = deps;
  const { maxRequestBodyBytes } = settings;
  return { version, host, maxRequestBodyBytes, audit, evals, console: deps.consoleDir !== undefined };
}

/** The surfaces that this host serves, and no others: a family that is off is absent. */
export function discoveryDocument(discovered: Discovered): Discovery {
  const { host, version, fixtures } = discovered;
  const { capabilities, runtimeCapabilities } = host;
  return {
    protocolVersion: PROTOCOL_VERSION,
    protocolVersions: [...PROTOCOL_VERSIONS],
    implementation: { name: "assay", version },
    engineVersion: ENGINE_VERSION,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    supportedTransports: ["rest"],
    supportedEnvelopes: ["clarification.request"],
    schemaVersions: { "clarification.request": 1 },
    limits: limitsOf(discovered),
    ...(runtimeCapabilities.size === 0 ? {} : { runtimeCapabilities: [...runtimeCapabilities].sort() }),
    ...(capabilities.has("pauseResume")
      ? { runs: { pauseResume: { supported: true, drainPolicies: [...DRAIN_POLICIES] } } }
      : {}),
    // Notifications of gates are sent by webhooks and the inbox, without audience rules.
    interrupt: { approverRouting: { supported: true, refKinds: ["group", "role"], audience: false } },
    authorization: {
      supported: true,
      failClosed: true,
      roles: Object.entries(BUILT_IN_ROLES).map(([role, scopes]) => ({ role, scopes: [...scopes] })),
    },
    auth: authOf(discovered),
    idempotency: {
      supported: true,
      layer1RetentionSeconds: Math.floor(host.idempotency.retentionMs / 1000),
      layer2RetentionSeconds: Math.floor(host.effects.retentionMs / 1000),
      crossRegion: "single-region",
    },
    ...(capabilities.has("feedback")
      ? { feedback: { supported: true, targets: [...TARGETS], signals: [...SIGNAL_KINDS] } }
      : {}),
    ...(capabilities.has("webhooks")
      ? { webhooks: { supported: true, signatureAlgorithms: [SIGNATURE_ALGORITHM], durable: true } }
      : {}),
    ...(capabilities.has("replay")
      ? { replay: { supported: true, modes: [...FORK_MODES], sideEffectSuppression: "recorded-outcome" } }
      : {}),
    subWorkflow: { inputMapping: true },
    ...(capabilities.has("secrets")
      ? { secrets: { supported: true, scopes: ["tenant"], resolution: "host-managed" } }
      : {}),
    ...agentSurfaces(capabilities),
    ...(capabilities.has("modelCapabilities")
      ? { modelCapabilities: { supported: true, advertised: modelOf(host), substitutionSupported: false } }
      : {}),
    ...agentsFamily(discovered),
    ...orchestrationOf(capabilities),
    ...bundlesOf(capabilities),
    ...(fixtures === undefined || fixtures.length === 0 ? {} : { fixtures: [...fixtures] }),
    extensions: {
      interrupts: interruptsOf(discovered),
      assay: {
        routes: "/v1/host/assay",
        openapi: "/v1/openapi.json",
        asyncapi: "/v1/asyncapi.json",
        schemas: SCHEMAS_PATH,
        ...(discovered.console ? { console: "/console/" } : {}),
        ...(capabilities.has("reviews") ? { reviews: AFP_BASE } : {}),
      },
    },
  };
}

function modelOf({ model }: Discovered["host"]): string[] {
  return [...(model?.capabilities ?? [])].sort();
}

function orchestrationOf(capabilities: Host["capabilities"]): Pick<Discovery, "multiAgent"> {
  if (!capabilities.has("orchestrator")) return {};
  return {
    multiAgent: {
      executionModel: {
        supported: true,
        version: 2,
        confidenceEscalationFloor: CONFIDENCE_FLOOR,
        confidenceEscalationInterruptKind: "clarification",
        // Workers run one after the other, so that two of them never write at the same time.
        crossChildMemoryConcurrency: "strict",
      },
    },
  };
}

function bundlesOf(capabilities: Host["capabilities"]): Pick<Discovery, "debugBundle" | "observability"> {
  if (!capabilities.has("debugBundle")) return {};
  const conformance = { observability: { testSeams: { debugBundleExport: true as const } } };
  return { debugBundle: { supported: true }, ...(capabilities.has("conformanceSeams") ? conformance : {}) };
}

function limitsOf({ host: { limits }, maxRequestBodyBytes }: Discovered): Discovery["limits"] {
  const { maxNodeExecutions, maxRunDurationMs } = limits;
  return {
    // The protocol requires these three of every host. They limit requests to models, and this host serves none.
    clarificationRounds: 3,
    schemaRounds: 2,
    envelopesPerTurn: 5,
    maxNodeExecutions,
    // Shorter limits are enforced as well, but the document has no way to say so.
    ...(maxRunDurationMs === undefined || maxRunDurationMs < 1000 ? {} : { maxRunDurationMs }),
    maxRequestBodyBytes,
  };
}

const PROFILES = [
  "openwop-interrupt-quorum",
  "openwop-interrupt-auth-required",
  "openwop-interrupt-external-event",
  "openwop-interrupt-cascade-cancel",
];

function interruptsOf({ host: { gates, tokens } }: Discovered): Discovery["extensions"]["interrupts"] {
  const { timeoutMs, eventRetentionMs } = gates;
  return {
    profiles: PROFILES,
    signedCallbackTokens: true,
    tokenTtlSeconds: Math.ceil(tokens.ttlMs / 1000),
    externalEventRetentionSeconds: Math.ceil(eventRetentionMs / 1000),
    ...(timeoutMs === undefined ? {} : { defaultGateTimeoutSeconds: Math.ceil(timeoutMs / 1000) }),
  };
}

function authOf({ host, audit }: Discovered): Discovery["auth"] {
  if (!host.capabilities.has("auditLogIntegrity")) return { profiles: [] };
  return {
    profiles: ["openwop-audit-log-integrity"],
    auditLogIntegrity: {
      hashChain: true,
      checkpointSignatureAlgorithm: "ed25519",
      checkpointPublicKey: audit.verifier.publicKey,
      checkpointIntervalEntries: audit.intervalEntries,
      checkpointIntervalSeconds: audit.intervalSeconds,
    },
  };
}
