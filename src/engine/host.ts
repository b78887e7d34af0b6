import { randomFillSync, randomInt } from "node:crypto";
import type { Scrubber } from "../formats/secrets/scrub.ts";
import { formatId, type IdPrefix, RANDOM_BYTES } from "../protocol/id.ts";
import type { Capability } from "../protocol/operation.ts";
import type { Run } from "../protocol/runs/run.ts";
import type { Lease, Store } from "../store/port/store.ts";
import type { Checkpointer } from "./audit/checkpointer.ts";
import type { GateEvidence } from "./gates/gate-evidence.ts";
import type { InterruptTokens } from "./gates/interrupt-token.ts";
import type { KeyLimits } from "./identity/key-limits.ts";
import type { Outbound } from "./outbound/guard.ts";
import type { Lacking } from "./runs/decide/begin-node.ts";
import type { RunLimits } from "./runs/decide/start-run.ts";
import type { NodeTypes } from "./worker/node-type.ts";
import type { RunRoom } from "./worker/run-room.ts";
import type { Plans } from "./workflows/plans.ts";

/** The dependencies and settings of the engine, built once for a process. */
export interface Host {
  readonly store: Store;
  readonly plans: Plans;
  readonly nodeTypes: NodeTypes;
  readonly limits: RunLimits & KeyLimits;
  /** The capabilities that discovery advertises and requests may use. */
  readonly capabilities: ReadonlySet<Capability>;
  /** Runtime capabilities that nodes may require. */
  readonly runtimeCapabilities: ReadonlySet<string>;
  readonly idempotency: { readonly retentionMs: number; readonly leaseMs: number };
  readonly effects: { readonly retentionMs: number };
  /** Credentials for single interrupts. */
  readonly tokens: InterruptTokens;
  readonly gates: GateSettings;
  /** Reads the evaluations that gates ask for; absent where none can be read, and then such a gate cannot be passed. */
  readonly evidence?: GateEvidence;
  /** The model of nodes that name none; absent where none is configured. */
  readonly model?: ActiveModel;
  /** Removes secrets from stored, exported, bundled and logged text: by their shapes, and those this process knows. */
  readonly scrubber: Scrubber;
  /** The largest debug bundle. */
  readonly bundles: { readonly maxBytes: number };
  /** Memory for runs; by default as much as fits this process. */
  readonly room?: RunRoom;
  /** Requests to addresses that others named. */
  readonly outbound: Outbound;
  readonly nowMs: () => number;
  readonly newId: (prefix: IdPrefix) => string;
  /** Signs the audit chains; absent where `auditLogIntegrity` is off. */
  readonly checkpointer?: Checkpointer;
  /** Takes new runs of this process from memory; absent where no worker runs. */
  readonly localWorker?: LocalWorker;
}

export interface ActiveModel {
  readonly provider: string;
  readonly model: string;
  readonly capabilities: ReadonlySet<string>;
}

const NO_MODEL: ActiveModel = { provider: "none", model: "none", capabilities: new Set() };

/** The required capabilities that a model lacks; undefined where it has all. */
export function lackingModel(
  { provider, model, capabilities }: ActiveModel = NO_MODEL,
  required: readonly string[],
): Lacking | undefined {
  const missingCapabilities = required.filter((name) => !capabilities.has(name));
  return missingCapabilities.length === 0 ? undefined : { provider, model, missingCapabilities };
}

export interface GateSettings {
  /** The time limit of gates without one; absent: they wait as long as their run may last. */
  readonly timeoutMs?: number;
  /** How long an external event without a waiting run is kept at most. */
  readonly eventRetentionMs: number;
  /** Whether a relay may name unknown voters too. */
  readonly anyVoter?: boolean;
  /** Relays whose votes count as those of the named persons. */
  readonly trustedRelays?: readonly { readonly tenant: string; readonly principal: string }[];
}

/** The worker of this process, which can execute a new run under a lease that is written with the run. */
export interface LocalWorker {
  /** A lease where the worker has a place, else undefined: then the run waits in the queue. */
  reserve(tenant: string): Lease | undefined;
  /** The run is durable under the lease: execute it. */
  take(run: Run): void;
  /** Releases a reserved place whose run was not created. */
  giveBack(tenant: string): void;
  /** A request of the tenant has arrived: a backlog of another tenant makes room for it. */
  noteRequest(tenant: string): void;
}

/**
 * Ids of one process sort in the order of their creation: within a millisecond, and when the clock is set back, the last random part is counted
 * up in place of a new one. Random bytes are drawn in blocks, one system call for some four hundred ids.
 */
export function idSource(nowMs: () => number): (prefix: IdPrefix) => string {
  const block = Buffer.alloc(RANDOM_BYTES * 409);
  let used = block.length;
  let random = block.subarray(0, RANDOM_BYTES);
  let lastMs = -1;
  return (prefix) => {
    const atMs = nowMs();
    if (atMs > lastMs) {
      lastMs = atMs;
      if (used + RANDOM_BYTES > block.length) {
        randomFillSync(block);
        used = 0;
      }
      random = block.subarray(used, used + RANDOM_BYTES);
      used += RANDOM_BYTES;
    } else {
      countUp(random);
    }
    return formatId(prefix, lastMs, random);
  };
}

/** Adds a random step, so that one id does not reveal the next; overflowing 80 bits would take longer than the clock. */
function countUp(bytes: Uint8Array): void {
  let carry = 1 + randomInt(1 << 24);
  for (let i = bytes.length - 1; i >= 0 && carry > 0; i--) {
    const sum = (bytes[i] ?? 0) + carry;
    bytes[i] = sum & 255;
    carry = Math.floor(sum / 256);
  }
}
