import { setImmediate as nextTurn } from "node:timers/promises";
import type { Authenticator } from "../../engine/identity/authenticate.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Scope } from "../../protocol/identity/scopes.ts";
import type { Store } from "../../store/port/store.ts";

export interface KeyWatchDeps extends AdmissionDeps {
  readonly store: Pick<Store, "onChange">;
  readonly authenticator: Pick<Authenticator, "authenticate" | "cacheMs">;
}

interface Watched {
  readonly admission: Admission;
  readonly refused: Set<(error: AppError) => void>;
}

const EVERY_MS = { least: 100, most: 1000 } as const;

export interface KeyWatchOptions {
  /** Changes within this time lead to one check, so a revoked key may keep its streams open for about as long. */
  readonly gatherMs?: number;
}

/** Keys that are checked in one turn of the event loop. */
const KEYS_AT_ONCE = 50;

/**
 * Repeats the checks of admission for responses that stay open: when keys or roles change, and at an interval, which finds expired
 * keys and changes whose notification was lost. One check serves all responses of a key. Checks of all keys are made one after the other,
 * at most every `gatherMs` and with other work in between, so that a tenant that changes keys while it holds thousands of streams
 * open delays no other tenant.
 */
export class KeyWatch {
  readonly #deps: KeyWatchDeps;
  readonly #gatherMs: number;
  readonly #watched = new Map<string, Watched>();
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** A check of all keys that has not begun yet. */
  #due: NodeJS.Timeout | undefined;
  #begunAtMs = Number.NEGATIVE_INFINITY;
  #checks: Promise<void> = Promise.resolve();

  constructor(deps: KeyWatchDeps, { gatherMs = 250 }: KeyWatchOptions = {}) {
    this.#deps = deps;
    this.#gatherMs = gatherMs;
    this.#stopListening = deps.store.onChange(({ keys }) => {
      if (keys && this.#watched.size > 0) this.#checkSoon();
    });
  }

  /** Calls `refused` when the caller would no longer be admitted. Returns what ends the watching. */
  watch(admission: Admission, refused: (error: AppError) => void): () => void {
    const { caller, scopes } = admission;
    const name = JSON.stringify([caller.keyId, caller.tenant, caller.workspace, ...scopes]);
    const watched = this.#watched.get(name) ?? { admission, refused: new Set() };
    this.#watched.set(name, watched);
    watched.refused.add(refused);
    const everyMs = Math.min(EVERY_MS.most, Math.max(EVERY_MS.least, this.#deps.authenticator.cacheMs));
    this.#timer ??= setInterval(() => this.#checkSoon(), everyMs).unref();
    return () => {
      watched.refused.delete(refused);
      if (watched.refused.size > 0 || this.#watched.get(name) !== watched) return;
      this.#watched.delete(name);
      if (this.#watched.size === 0) this.#stop();
    };
  }

  close(): void {
    this.#stopListening();
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    clearTimeout(this.#due);
    this.#due = undefined;
  }

  /** In a later turn at the earliest, when all caches of keys have been cleared. */
  #checkSoon(): void {
    if (this.#due !== undefined) return;
    const inMs = Math.max(0, this.#begunAtMs + this.#gatherMs - performance.now());
    const due = setTimeout(() => {
      this.#checks = this.#checks.then(() => this.#begin(due));
    }, inMs).unref();
    this.#due = due;
  }

  /** A change from here on leads to another check, because this one may have read its key already. */
  #begin(due: NodeJS.Timeout): Promise<void> {
    if (this.#due !== due) return Promise.resolve();
    this.#due = undefined;
    this.#begunAtMs = performance.now();
    return this.#checkAll();
  }

  async #checkAll(): Promise<void> {
    const all = [...this.#watched.values()];
    for (let i = 0; i < all.length; i += KEYS_AT_ONCE) {
      const open = all.slice(i, i + KEYS_AT_ONCE).filter(({ refused }) => refused.size > 0);
      await Promise.all(open.map((watched) => this.#check(watched)));
      await nextTurn();
    }
  }

  async #check({ admission, refused }: Watched): Promise<void> {
    try {
      await admitAgain(this.#deps, admission);
    } catch (error) {
      // An error of the database says nothing about the key.
      if (!(error instanceof AppError) || (error.status !== 401 && error.status !== 403)) return;
      for (const refuse of [...refused]) refuse(error);
    }
  }
}

/** The credentials and scopes that a request was admitted with. */
export interface Admission {
  readonly authorization: string | undefined;
  readonly caller: Caller;
  readonly scopes: readonly Scope[];
}

export interface AdmissionDeps {
  readonly authenticator: Pick<Authenticator, "authenticate">;
  readonly authorizer: Pick<Authorizer, "authorize">;
}

/** The caller with its present roles and scopes, after time has passed. Throws where the request would be refused by now. */
export async function admitAgain(
  { authenticator, authorizer }: AdmissionDeps,
  { authorization, caller, scopes }: Admission,
): Promise<Caller> {
  const now = await authenticator.authenticate(authorization);
  // A key that was moved to another tenant or workspace is another key.
  if (now.tenant !== caller.tenant || now.workspace !== caller.workspace) throw new AppError("unauthenticated");
  for (const scope of scopes) await authorizer.authorize(now, scope);
  return now;
}
