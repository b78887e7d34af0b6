import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { AppError } from "../../protocol/errors.ts";
import type { RunError } from "../../protocol/events.ts";
import { perObject } from "../../protocol/per-object.ts";
import { isReplay } from "../../protocol/runs/forked-from.ts";
import type { EffectRecord, Store } from "../../store/port/store.ts";
import type { Host } from "../host.ts";

/** The identity of an intended effect, the same for each attempt. */
interface EffectIdentity {
  readonly tenantId: string;
  readonly runId: string;
  readonly nodeId: string;
  /** Counts the intended effects of the node over the whole run; a retry keeps it, a second call has the next. */
  readonly ordinal: number;
  /** The provider and its operation, such as `mail:send`. */
  readonly providerKey: string;
}

export interface Effect extends EffectIdentity {
  /** The worker that is about to act. */
  readonly claimedBy: string;
  /** Whether the provider uses our id as its idempotency key, so that a repetition has no effect. */
  readonly providerAcceptsIdentity: boolean;
  readonly signal?: AbortSignal;
}

/** The outcome of an effect; a node can return `failed` as it is. The value is JSON. */
export type EffectResult<T> =
  | { readonly type: "succeeded"; readonly value: T }
  | { readonly type: "failed"; readonly error: RunError };

/** Spec §5.2. There is no attempt counter in it. */
export function logicalInvocationId({ tenantId, runId, nodeId, ordinal, providerKey }: EffectIdentity): string {
  const parts = ["openwop:activity:v2", tenantId, runId, nodeId, String(ordinal), providerKey];
  // Two different lists of parts must never read the same.
  if (parts.some((part) => part.includes("\0"))) throw new Error("a part of an effect's identity contains NUL");
  return createHash("sha256").update(parts.join("\0")).digest("base64url");
}

/**
 * Runs an effect at most once. The claim is durable before `fire` is called, and the outcome before this returns; a repeated call gets the
 * recorded outcome, success or failure, without calling `fire`.
 *
 * `fire` returns the answer of the provider. Where it throws, as after a crash, it is not known whether the effect happened: it is repeated
 * only if the provider accepts our id. Otherwise the error is recorded as the outcome, and a claim without an outcome fails with
 * `effect_in_doubt`. An abort records nothing.
 */
export async function withEffect<T>(
  host: Pick<Host, "store" | "nowMs" | "effects">,
  effect: Effect,
  fire: (effectId: string) => Promise<EffectResult<T>>,
): Promise<EffectResult<T>> {
  const effectId = logicalInvocationId(effect);
  const here = underWayIn(host.store);
  // An abandoned attempt of this process may still be running.
  const other = here.get(effectId);
  if (other) return other as Promise<EffectResult<T>>;
  const mine = claimAndFire(host, effect, effectId, fire).finally(() => here.delete(effectId));
  here.set(effectId, mine);
  return mine;
}

const underWayIn = perObject((_store: Store) => new Map<string, Promise<EffectResult<unknown>>>());

async function claimAndFire<T>(
  host: Pick<Host, "store" | "nowMs" | "effects">,
  effect: Effect,
  effectId: string,
  fire: (effectId: string) => Promise<EffectResult<T>>,
): Promise<EffectResult<T>> {
  const { tenantId: tenant, runId, nodeId, ordinal, providerKey, claimedBy } = effect;
  const run = await host.store.readRun({ tenant }, runId);
  if (run !== undefined && isReplay(run)) return notAgain(effect);
  const atMs = host.nowMs();
  const expiresAtMs = atMs + host.effects.retentionMs;
  const claim = { effectId, runId, nodeId, ordinal, providerKey, claimedBy, atMs, expiresAtMs };
  const claimed = await host.store.commit({ tenant, effectClaims: [claim] });
  if (!claimed.ok) {
    if (claimed.refusal.type !== "effect") throw new Error(`an effect claim was refused: ${claimed.refusal.type}`);
    const recorded = recordedResult<T>(claimed.refusal.record);
    if (recorded) return recorded;
    if (!effect.providerAcceptsIdentity) return inDoubt(claimed.refusal.record);
  }
  const result = await answerOf(effect, effectId, fire);
  return record(host, tenant, effectId, result);
}

async function answerOf<T>(
  { providerAcceptsIdentity, signal }: Effect,
  effectId: string,
  fire: (effectId: string) => Promise<EffectResult<T>>,
): Promise<EffectResult<T>> {
  try {
    return await fire(effectId);
  } catch (error) {
    if (providerAcceptsIdentity || signal?.aborted) throw error;
    const message = error instanceof Error && error.message !== "" ? error.message : "the effect threw";
    return { type: "failed", error: { code: "node_threw", message, retryable: false } };
  }
}

const RETRY_MS = [100, 200, 400, 800, 1600, 3200];

/** Records an outcome, also across a restart of the database: a known outcome must not be lost. */
async function record<T>(
  host: Pick<Host, "store" | "nowMs">,
  tenant: string,
  effectId: string,
  result: EffectResult<T>,
): Promise<EffectResult<T>> {
  const outcome = JSON.stringify(result.type === "succeeded" ? (result.value ?? null) : result.error);
  const effectOutcomes = [{ effectId, state: result.type, outcome, atMs: host.nowMs() }];
  for (let attempt = 0; ; attempt++) {
    try {
      await host.store.commit({ tenant, effectOutcomes });
      // Another host may have recorded its outcome first; all callers get the recorded one.
      const recorded = await host.store.readEffect(effectId);
      return (recorded && recordedResult<T>(recorded)) ?? resultOf<T>(result.type, outcome);
    } catch (error) {
      const waitMs = RETRY_MS[attempt];
      if (!(error instanceof AppError && error.mayRetry) || waitMs === undefined) throw error;
      await setTimeout(waitMs);
    }
  }
}

function recordedResult<T>({ state, outcome }: EffectRecord): EffectResult<T> | undefined {
  return state === "claimed" || outcome === undefined ? undefined : resultOf<T>(state, outcome);
}

function resultOf<T>(state: "succeeded" | "failed", outcome: string): EffectResult<T> {
  if (state === "succeeded") return { type: state, value: JSON.parse(outcome) as T };
  return { type: state, error: JSON.parse(outcome) as RunError };
}

/** The failure of an effect in a replay, which takes all outcomes from the log of its source. */
function notAgain({ providerKey, nodeId }: Effect): EffectResult<never> {
  const message = `Node ${nodeId} of a replay asked for ${providerKey}. A replay has no effects.`;
  return { type: "failed", error: { code: "replay_source_missing", message, retryable: false } };
}

function inDoubt({ providerKey, atMs, claimedBy }: EffectRecord): EffectResult<never> {
  const since = new Date(atMs).toISOString();
  const message = `Whether ${providerKey} happened is not known: ${claimedBy} began at ${since} and left no outcome. It is not repeated.`;
  return { type: "failed", error: { code: "effect_in_doubt", message, retryable: false } };
}
