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

/** What the functions of the engine are given. Built once, where the process is wired. */
export interface Host {
  readonly store: Store;
  readonly plans: Plans;
  readonly nodeTypes: NodeTypes;
  readonly limits: RunLimits & KeyLimits;
  /** What discovery advertises and the gates let through. */
  readonly capabilities: ReadonlySet<Capability>;
  /** Runtime capabilities that nodes may require. */
  readonly runtimeCapabilities: ReadonlySet<string>;
  readonly idempotency: { readonly retentionMs: number; readonly leaseMs: number };
  readonly effects: { readonly retentionMs: number };
  /** Credentials for single interrupts. */
  readonly tokens: InterruptTokens;
  readonly gates: GateSettings;
  /** How evaluations stand that gates ask for; absent where none can be read, and such a gate lets nobody pass. */
  readonly evidence?: GateEvidence;
  /** What answers where a node does not say which model; absent where none is configured. */
  readonly model?: ActiveModel;
  /** Takes secrets out of what is stored, exported, bundled and logged: their shapes, and those this process knows. */
  readonly scrubber: Scrubber;
  /** How large a debug bundle may be. */
  readonly bundles: { readonly maxBytes: number };
  /** Memory for runs; absent: as much as fits this process. */
  readonly room?: RunRoom;
  /** How this process calls what somebody else named. */
  readonly outbound: Outbound;
  readonly nowMs: () => number;
  readonly newId: (prefix: IdPrefix) => string;
  /** Signs the audit chains; absent where `auditLogIntegrity` is off. */
  readonly checkpointer?: Checkpointer;
  /** Takes new runs of this process straight from memory; absent where no worker runs. */
  readonly localWorker?: LocalWorker;
}

export interface ActiveModel {
  readonly provider: string;
  readonly model: string;
  readonly capabilities: ReadonlySet<string>;
}

const NO_MODEL: ActiveModel = { provider: "none", model: "none", capabilities: new Set() };

/** What is asked of a model and this one cannot do; undefined when it can do everything. */
export function lackingModel(
  { provider, model, capabilities }: ActiveModel = NO_MODEL,
  required: readonly string[],
): Lacking | undefined {
  const missingCapabilities = required.filter((name) => !capabilities.has(name));
  return missingCapabilities.length === 0 ? undefined : { provider, model, missingCapabilities };
}

export interface GateSettings {
  /** For gates that name no time limit of their own. Absent: they wait for as long as their run may. */
  readonly timeoutMs?: number;
  /** How long an external event that nobody waits for yet is kept at most. */
  readonly eventRetentionMs: number;
  /** A relay may name any voter, known or not; without it only known principals. */
  readonly anyVoter?: boolean;
  /** Relays whose word counts for a person's. */
  readonly trustedRelays?: readonly { readonly tenant: string; readonly principal: string }[];
}

/** A worker's offer to execute a run that is about to be created, under a lease written with it. */
export interface LocalWorker {
  /** A lease when there is room, else undefined: then the run waits in the queue like any other. */
  reserve(tenant: string): Lease | undefined;
  /** The run is durable under the lease: execute it. */
  take(run: Run): void;
  /** The run was not created after all. */
  giveBack(tenant: string): void;
  /** A request of the tenant has arrived: a backlog of another tenant makes room for it. */
  noteRequest(tenant: string): void;
}

/**
 * Ids of one process sort in the order they were made: within a millisecond, and when the clock is set back, the last
 * random part is counted up instead of drawn anew. Random bytes are drawn in blocks, one system call for some four
 * hundred ids.
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

/** By a random step, so that one id does not give away the next; overflowing 80 bits would take longer than the clock. */
function countUp(bytes: Uint8Array): void {
  let carry = 1 + randomInt(1 << 24);
  for (let i = bytes.length - 1; i >= 0 && carry > 0; i--) {
    const sum = (bytes[i] ?? 0) + carry;
    bytes[i] = sum & 255;
    carry = Math.floor(sum / 256);
  }
}
