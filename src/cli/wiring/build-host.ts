import { randomBytes } from "node:crypto";
import { withLargeCommitsInTurn } from "../../engine/families/large-commits.ts";
import { type InterruptTokens, tokenKeys } from "../../engine/gates/interrupt-token.ts";
import { type GateSettings, type Host, idSource } from "../../engine/host.ts";
import { NODE_TYPES, servedTypes } from "../../engine/nodes/all.ts";
import { CONFORMANCE_SECRET_ID, secretEcho, sideEffect } from "../../engine/nodes/conformance.ts";
import { planless } from "../../engine/nodes/decision-source.ts";
import { supervisor } from "../../engine/nodes/supervisor.ts";
import { systemResolve } from "../../engine/outbound/guard.ts";
import { withOutbox } from "../../engine/webhooks/outbox.ts";
import type { NodeType, NodeTypes } from "../../engine/worker/node-type.ts";
import { defaultRoom, RunRoom } from "../../engine/worker/run-room.ts";
import { steadyClock } from "../../engine/worker/steady-clock.ts";
import { plansOf } from "../../engine/workflows/plans.ts";
import { gateEvidenceOn } from "../../evals/evidence/gate-evidence.ts";
import { defined } from "../../protocol/defined.ts";
import type { Capability } from "../../protocol/operation.ts";
import type { Store } from "../../store/port/store.ts";
import { packageVersion } from "../paths.ts";
import { HOST_KID, parseTokenKeys, parseTrustedRelays } from "../settings/setting-formats.ts";
import type { Config } from "../settings/settings.ts";
import { type AgentServices, agentNodeTypes, agentServices } from "./agents.ts";
import { type ProcessScrubber, processScrubber } from "./process-scrubber.ts";

/** The time for which a request reserves its idempotency key, longer than any request lasts. */
const IDEMPOTENCY_LEASE_MS = 60_000;

/** The one clock of the process: its parts compare times. */
const hostClock = steadyClock(Date.now, () => performance.now());

/** The capabilities of this version. */
const BUILT: readonly Capability[] = [
  "pauseResume",
  "feedback",
  "auditLogIntegrity",
  "webhooks",
  "replay",
  "diff",
  "debugBundle",
  "reviews",
  "agents",
  "evalSuite",
  "deployment",
  "orchestrator",
  "modelCapabilities",
];

/** Capabilities that need agents. */
const OF_AGENTS: readonly Capability[] = ["evalSuite", "deployment"];

export async function buildHost(
  store: Store,
  config: Config,
  given?: ProcessScrubber,
  services?: AgentServices,
): Promise<Host> {
  const scrubber = given ?? (await processScrubber(config));
  scrubber.keep(await ownTokenSecret(store));
  const nowMs = hostClock;
  // The wall clock may have been set back: sleeping runs have due times of the earlier clock.
  nowMs.notBefore((await store.newestQueuedMs()) ?? 0);
  const newId = idSource(nowMs);
  const capabilities = capabilitiesOf(config);
  const { maxNodeExecutions, maxRunDurationMs, maxActiveRuns, maxDescendants, maxKeys } = config;
  const effects = { retentionMs: config.effectRetentionSeconds * 1000 };
  const room = roomFor(config);
  const serialized = withLargeCommitsInTurn(store, room);
  const needs = { store: withOutbox(serialized, { nowMs, newId, capabilities }), scrubber, nowMs, newId, effects };
  const agents = services ?? agentServices(store, config, scrubber);
  const agentNodes = agentNodeTypes(needs, agents, capabilities.has("agents"));
  const host: Host = {
    ...needs,
    plans: plansOf(store),
    nodeTypes: nodeTypesOf(config, capabilities, needs, agentNodes),
    limits: { maxNodeExecutions, maxRunDurationMs, maxActiveRuns, maxDescendants, maxKeys },
    capabilities,
    runtimeCapabilities: new Set(),
    idempotency: { retentionMs: config.idempotencyRetentionSeconds * 1000, leaseMs: IDEMPOTENCY_LEASE_MS },
    tokens: await tokensFor(store, config, nowMs),
    gates: gatesOf(config),
    bundles: { maxBytes: config.bundleMaxBytes },
    room,
    outbound: {
      allowPrivate: config.allowPrivateWebhooks,
      resolve: systemResolve,
      timeoutMs: config.webhookTimeoutMs,
      userAgent: `assay/${packageVersion()}`,
    },
  };
  return capabilities.has("evalSuite") ? { ...host, evidence: gateEvidenceOn(host, agents.agents) } : host;
}

/** The node types of a host; those that conformance suites observe only with the conformance routes. */
function nodeTypesOf(
  { conformanceSeams, canarySecret }: Config,
  capabilities: ReadonlySet<Capability>,
  host: Pick<Host, "store" | "nowMs" | "effects">,
  agentNodes: readonly NodeType[],
): NodeTypes {
  const echo = secretEcho((id) => (id === CONFORMANCE_SECRET_ID ? canarySecret : undefined));
  const observed = conformanceSeams ? [sideEffect(host), echo, supervisor(undefined, planless(host))] : [];
  // A later type replaces an earlier one of the same id: the supervisor that calls agents is used.
  const all = [...NODE_TYPES.values(), ...observed, ...agentNodes];
  return servedTypes(all, capabilities);
}

function roomFor({ maxRunBytes, maxBytesInHand }: Config): RunRoom {
  const { maxBytesInHand: fits, ...runs } = defaultRoom();
  return new RunRoom({
    ...(maxRunBytes === 0 ? runs : { maxRunBytes }),
    maxBytesInHand: maxBytesInHand === 0 ? fits : maxBytesInHand,
  });
}

function gatesOf(config: Config): GateSettings {
  const { gateTimeout, eventRetention, knownVoters, trustedRelays = "", conformanceSeams } = config;
  return {
    ...defined({ timeoutMs: gateTimeout === 0 ? undefined : gateTimeout * 1000 }),
    eventRetentionMs: eventRetention * 1000,
    // The conformance suite names voters of its own.
    anyVoter: !knownVoters || conformanceSeams,
    trustedRelays: parseTrustedRelays(trustedRelays),
  };
}

function capabilitiesOf({ disable, conformanceSeams, canarySecret }: Config): ReadonlySet<Capability> {
  const secrets: readonly Capability[] = conformanceSeams && canarySecret !== undefined ? ["secrets"] : [];
  const off = disable.includes("agents") ? [...disable, ...OF_AGENTS] : disable;
  const on = [...BUILT, ...secrets].filter((capability) => !off.includes(capability));
  return new Set(conformanceSeams ? [...on, "conformanceSeams"] : on);
}

/**
 * The tokens of all processes on one database. They are signed with the first key of `--token-keys`, else with a secret that the first
 * start made. That secret still verifies tokens when keys are given, so that earlier tokens stay valid.
 */
export async function tokensFor(
  store: Pick<Store, "hostSecret">,
  config: Pick<Config, "tokenKeys" | "tokenTtl">,
  nowMs: () => number,
): Promise<InterruptTokens> {
  const own = { kid: HOST_KID, secret: await ownTokenSecret(store) };
  const given = config.tokenKeys === undefined ? [] : parseTokenKeys(config.tokenKeys);
  const [first = own, ...rest] = [...given, own];
  return tokenKeys({ keys: [first, ...rest], nowMs, ttlMs: config.tokenTtl * 1000 });
}

/** The secret in the database, made by the first process. */
export function ownTokenSecret(store: Pick<Store, "hostSecret">): Promise<string> {
  return store.hostSecret("interrupt-token", () => randomBytes(32).toString("base64url"));
}
