import { type Host, idSource } from "../../engine/host.ts";
import { NODE_TYPES } from "../../engine/nodes/all.ts";
import { plansOf } from "../../engine/plans.ts";
import type { Capability } from "../../protocol/operation.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../settings.ts";

/** How long a request may hold its idempotency key before a repetition may try: longer than any request lasts. */
const IDEMPOTENCY_LEASE_MS = 60_000;

/** What is built so far. Annotations come with the feedback they belong to. */
const BUILT: readonly Capability[] = ["pauseResume", "auditLogIntegrity"];

export function buildHost(store: Store, config: Config): Host {
  const nowMs = Date.now;
  const { maxNodeExecutions, maxRunDurationMs } = config;
  return {
    store,
    plans: plansOf(store),
    nodeTypes: NODE_TYPES,
    limits: { maxNodeExecutions, maxRunDurationMs },
    capabilities: capabilitiesOf(config),
    runtimeCapabilities: new Set(),
    idempotency: { retentionMs: config.idempotencyRetentionSeconds * 1000, leaseMs: IDEMPOTENCY_LEASE_MS },
    effects: { retentionMs: config.effectRetentionSeconds * 1000 },
    nowMs,
    newId: idSource(nowMs),
  };
}

function capabilitiesOf({ disable, conformanceSeams }: Config): ReadonlySet<Capability> {
  const on = BUILT.filter((capability) => !disable.includes(capability));
  return new Set(conformanceSeams ? [...on, "conformanceSeams"] : on);
}
