import { type GateSettings, type Host, idSource } from "../../engine/host.ts";
import type { NodeTypes } from "../../engine/node-type.ts";
import { NODE_TYPES } from "../../engine/nodes/all.ts";
import { sideEffect } from "../../engine/nodes/side-effect.ts";
import { systemResolve } from "../../engine/outbound/guard.ts";
import { plansOf } from "../../engine/plans.ts";
import { withOutbox } from "../../engine/webhooks/outbox.ts";
import type { Capability } from "../../protocol/operation.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../settings.ts";
import { packageVersion } from "../version.ts";
import { type ProcessScrubber, processScrubber } from "./process-scrubber.ts";
import { ownTokenSecret, tokensFor } from "./token-keys.ts";

/** How long a request may hold its idempotency key before a repetition may try: longer than any request lasts. */
const IDEMPOTENCY_LEASE_MS = 60_000;

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
];

export async function buildHost(store: Store, config: Config, given?: ProcessScrubber): Promise<Host> {
  const scrubber = given ?? (await processScrubber(config));
  scrubber.keep(await ownTokenSecret(store));
  const nowMs = Date.now;
  const newId = idSource(nowMs);
  const capabilities = capabilitiesOf(config);
  const { maxNodeExecutions, maxRunDurationMs } = config;
  const effects = { retentionMs: config.effectRetentionSeconds * 1000 };
  return {
    store: withOutbox(store, { nowMs, newId, capabilities }),
    plans: plansOf(store),
    nodeTypes: nodeTypesOf(config, { store, nowMs, effects }),
    limits: { maxNodeExecutions, maxRunDurationMs },
    capabilities,
    runtimeCapabilities: new Set(),
    idempotency: { retentionMs: config.idempotencyRetentionSeconds * 1000, leaseMs: IDEMPOTENCY_LEASE_MS },
    tokens: await tokensFor(store, config, nowMs),
    gates: gatesOf(config),
    scrubber,
    bundles: { maxBytes: config.bundleMaxBytes },
    effects,
    outbound: {
      allowPrivate: config.allowPrivateWebhooks,
      resolve: systemResolve,
      timeoutMs: config.webhookTimeoutMs,
      userAgent: `assay/${packageVersion()}`,
    },
    nowMs,
    newId,
  };
}

/** What is only there to be watched by a conformance suite is not there for anybody else. */
function nodeTypesOf({ conformanceSeams }: Config, host: Pick<Host, "store" | "nowMs" | "effects">): NodeTypes {
  if (!conformanceSeams) return NODE_TYPES;
  const more = sideEffect(host);
  return new Map([...NODE_TYPES, [more.typeId, more]]);
}

function gatesOf({ gateTimeout, eventRetention }: Config): GateSettings {
  const timeout = gateTimeout === 0 ? {} : { timeoutMs: gateTimeout * 1000 };
  return { ...timeout, eventRetentionMs: eventRetention * 1000 };
}

function capabilitiesOf({ disable, conformanceSeams }: Config): ReadonlySet<Capability> {
  const on = BUILT.filter((capability) => !disable.includes(capability));
  return new Set(conformanceSeams ? [...on, "conformanceSeams"] : on);
}
