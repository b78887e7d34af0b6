import { resolveInterrupt } from "../engine/gates/resolve-interrupt.ts";
import type { Host } from "../engine/host.ts";
import { cancelRun } from "../engine/runs/change-run.ts";
import { AppError } from "../protocol/errors.ts";
import type { ResolveInterruptResponse } from "../protocol/gates/api.ts";
import type { Caller, PrincipalKind } from "../protocol/identity/identity.ts";
import type { Store } from "../store/port/store.ts";

interface Standing {
  readonly kind?: PrincipalKind;
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
  readonly workspace?: string;
  readonly keyScopes?: readonly string[];
}

/** Somebody with a key, who is what it says in the store: gates look there and not at the key. */
export async function enrol(store: Store, principal: string, standing: Standing = {}): Promise<Caller> {
  const { kind = "user", roles = ["reviewer"], groups = [], workspace, keyScopes = ["*"] } = standing;
  const place = { tenant: "t1", ...(workspace === undefined ? {} : { workspace }) };
  await store.commit({ tenant: "t1", roles: [{ ...place, principal, roles, groups }] });
  return { ...place, principal, kind, keyId: `key-of-${principal}`, roles, groups, keyScopes };
}

export function answer(
  host: Host,
  caller: Caller,
  runId: string,
  value: unknown,
  nodeId = "gate",
): Promise<ResolveInterruptResponse> {
  return resolveInterrupt(host, { caller, runId, of: { nodeId }, value, record: () => undefined });
}

export function cancel(host: Host, caller: Caller, runId: string): Promise<{ readonly status: string }> {
  return cancelRun(host, { caller, runId, request: {}, record: () => undefined });
}

/** `ok`, or the code of the refusal. What is no refusal is a bug and goes on. */
export async function outcomeOf(act: Promise<unknown>): Promise<string> {
  try {
    await act;
    return "ok";
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.code;
  }
}

/** How often each outcome came out. */
export async function outcomesOf(acts: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.all(acts.map(outcomeOf))) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
