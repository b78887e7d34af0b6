import type { Visibility } from "../../protocol/identity/identity.ts";

export interface Side {
  readIdempotency(key: IdempotencyKey, nowMs: number): Promise<IdempotencyRecord | undefined>;
  /**
   * Atomically makes a pending record when there is none, or none that still counts (expired, retryable failure,
   * pending with a lease that is over). Returns undefined when claimed, else the record that stands.
   */
  claimIdempotency(claim: IdempotencyClaim): Promise<IdempotencyRecord | undefined>;
  /** Drops a pending claim whose request failed in a way that must not be replayed. */
  releaseIdempotency(key: IdempotencyKey, leaseOwner: string): Promise<void>;
  readEffect(effectId: string): Promise<EffectRecord | undefined>;
  readArtifact(visible: Visibility, runId: string, artifactId: string): Promise<Artifact | undefined>;
  /** The secret under this name; made by the first caller and the same for every process afterwards. */
  hostSecret(name: string, make: () => string): Promise<string>;
  /** Forgets idempotency records, effects, external events and deliveries whose retention is over; returns how many. */
  purge(nowMs: number): Promise<number>;
}

export interface IdempotencyKey {
  readonly tenant: string;
  /** The routed operation and the resource it names, never the raw path. */
  readonly operation: string;
  readonly key: string;
}

export interface IdempotencyClaim extends IdempotencyKey {
  readonly digest: string;
  readonly leaseOwner: string;
  readonly leaseUntilMs: number;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

/** Final outcomes only; `leaseOwner` names the pending claim it completes, if one was made. */
export interface IdempotencyOutcome extends IdempotencyKey {
  readonly digest: string;
  readonly state: "completed" | "terminal-failure" | "retryable-failure";
  readonly response: RecordedResponse;
  readonly leaseOwner?: string;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

export interface RecordedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface IdempotencyRecord {
  readonly digest: string;
  readonly state: "pending" | "completed" | "terminal-failure" | "retryable-failure";
  readonly response?: RecordedResponse;
  readonly leaseUntilMs?: number;
}

export interface EffectClaim {
  /** The logical invocation id: the same for every attempt of one intended effect. */
  readonly effectId: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly ordinal: number;
  readonly providerKey: string;
  readonly claimedBy: string;
  readonly atMs: number;
  readonly expiresAtMs: number;
}

/** The first outcome stands; a later one changes nothing. */
export interface EffectOutcome {
  readonly effectId: string;
  readonly state: "succeeded" | "failed";
  /** JSON text. */
  readonly outcome: string;
  readonly atMs: number;
}

/** `claimed` without an outcome after a crash is in doubt: it is not fired again silently. */
export interface EffectRecord extends EffectClaim {
  readonly tenant: string;
  readonly state: "claimed" | "succeeded" | "failed";
  readonly outcome?: string;
}

export interface ArtifactWrite {
  readonly runId: string;
  readonly artifactId: string;
  readonly artifactType: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly atMs: number;
}

export interface Artifact {
  readonly artifactId: string;
  readonly artifactType: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}
