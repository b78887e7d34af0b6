import { withLargeCommitsInTurn } from "../../engine/families/large-commits.ts";
import { type GateSettings, type Host, idSource } from "../../engine/host.ts";
import { NODE_TYPES, servedTypes } from "../../engine/nodes/all.ts";
import { planless } from "../../engine/nodes/decision-source.ts";
import { CANARY_ID, secretEcho } from "../../engine/nodes/secret-echo.ts";
import { sideEffect } from "../../engine/nodes/side-effect.ts";
import { supervisor } from "../../engine/nodes/supervisor.ts";
import { systemResolve } from "../../engine/outbound/guard.ts";
import { withOutbox } from "../../engine/webhooks/outbox.ts";
import type { NodeType, NodeTypes } from "../../engine/worker/node-type.ts";
import { defaultRoom, RunRoom } from "../../engine/worker/run-room.ts";
import { steadyClock } from "../../engine/worker/steady-clock.ts";
import { plansOf } from "../../engine/workflows/plans.ts";
import { gateEvidenceOn } from "../../evals/evidence/gate-evidence.ts";
import type { Capability } from "../../protocol/operation.ts";
import type { Store } from "../../store/port/store.ts";
import { parseTrustedRelays } from "../settings/setting-formats.ts";
import type { Config } from "../settings/settings.ts";
import { packageVersion } from "../version.ts";
import { type AgentServices, agentNodeTypes, agentServices } from "./agents.ts";
import { type ProcessScrubber, processScrubber } from "./process-scrubber.ts";
import { ownTokenSecret, tokensFor } from "./token-keys.ts";

/** How long a request may hold its idempotency key before a repetition may try: longer than any request lasts. */
const IDEMPOTENCY_LEASE_MS = 60_000;

/** One for the process: parts of it that compare times must not see two clocks. */
export const hostClock = steadyClock(Date.now, () => performance.now());

/** What is built so far. */
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

/** What cannot be served without agents. */
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
  // The wall clock may have been set back since: runs that sleep were told the time of then.
  nowMs.notBefore((await store.newestQueuedMs()) ?? 0);
  const newId = idSource(nowMs);
  const capabilities = capabilitiesOf(config);
  const { maxNodeExecutions, maxRunDurationMs, maxActiveRuns, maxDescendants, maxKeys } = config;
  const effects = { retentionMs: config.effectRetentionSeconds * 1000 };
  const room = roomFor(config);
  const inTurn = withLargeCommitsInTurn(store, room);
  const needs = { store: withOutbox(inTurn, { nowMs, newId, capabilities }), scrubber, nowMs, newId, effects };
  const asking = services ?? agentServices(store, config, scrubber);
  const agentNodes = agentNodeTypes(needs, asking, capabilities.has("agents"));
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
  return capabilities.has("evalSuite") ? { ...host, evidence: gateEvidenceOn(host, asking.agents) } : host;
}

/** What is only there to be watched by a conformance suite is not there for anybody else. */
function nodeTypesOf(
  { conformanceSeams, canarySecret }: Config,
  capabilities: ReadonlySet<Capability>,
  host: Pick<Host, "store" | "nowMs" | "effects">,
  agentNodes: readonly NodeType[],
): NodeTypes {
  const canary = secretEcho((id) => (id === CANARY_ID ? canarySecret : undefined));
  const seams = conformanceSeams ? [sideEffect(host), canary, supervisor(undefined, planless(host))] : [];
  // A type given later replaces an earlier one of the same id: the supervisor that asks agents wins.
  const all = [...NODE_TYPES.values(), ...seams, ...agentNodes];
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
  const timeout = gateTimeout === 0 ? {} : { timeoutMs: gateTimeout * 1000 };
  return {
    ...timeout,
    eventRetentionMs: eventRetention * 1000,
    // The conformance suite names voters of its own.
    anyVoter: !knownVoters || conformanceSeams,
    trustedRelays: parseTrustedRelays(trustedRelays),
  };
}

function capabilitiesOf({ disable, conformanceSeams, canarySecret }: Config): ReadonlySet<Capability> {
  const canary: readonly Capability[] = conformanceSeams && canarySecret !== undefined ? ["secrets"] : [];
  const off = disable.includes("agents") ? [...disable, ...OF_AGENTS] : disable;
  const on = [...BUILT, ...canary].filter((capability) => !off.includes(capability));
  return new Set(conformanceSeams ? [...on, "conformanceSeams"] : on);
}
