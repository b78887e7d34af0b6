import type { Authenticator } from "../engine/authenticate.ts";
import type { Authorizer } from "../engine/roles.ts";
import { AppError } from "../protocol/errors.ts";
import type { Caller } from "../protocol/identity.ts";
import type { Scope } from "../protocol/scopes.ts";
import type { Store } from "../store/store.ts";

/** What an answer that stays open was let in with. */
export interface Admission {
  readonly authorization: string | undefined;
  readonly caller: Caller;
  readonly scope: Scope;
}

export interface KeyWatchDeps {
  readonly store: Pick<Store, "onChange">;
  readonly authenticator: Pick<Authenticator, "authenticate" | "cacheMs">;
  readonly authorizer: Pick<Authorizer, "authorize">;
}

interface Watched {
  readonly admission: Admission;
  readonly refused: Set<(error: AppError) => void>;
}

const EVERY_MS = { least: 100, most: 1000 } as const;

/**
 * An answer that stays open outlives the checks it began with. So they are made again while it does: when keys or roles
 * change, and from time to time, which notices an expiry and a change that nobody was told of. One check for all that
 * a key holds open.
 */
export class KeyWatch {
  readonly #deps: KeyWatchDeps;
  readonly #watched = new Map<string, Watched>();
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: KeyWatchDeps) {
    this.#deps = deps;
    this.#stopListening = deps.store.onChange(({ keys }) => {
      // In the next turn, when everybody who keeps what is known of keys has let go of it.
      if (keys && this.#watched.size > 0) setImmediate(() => this.#checkAll());
    });
  }

  /** `refused` is told when the caller would no longer be let in. Returns what ends the watching. */
  watch(admission: Admission, refused: (error: AppError) => void): () => void {
    const { caller, scope } = admission;
    const name = JSON.stringify([caller.keyId, caller.tenant, caller.workspace, scope]);
    const watched = this.#watched.get(name) ?? { admission, refused: new Set() };
    this.#watched.set(name, watched);
    watched.refused.add(refused);
    const everyMs = Math.min(EVERY_MS.most, Math.max(EVERY_MS.least, this.#deps.authenticator.cacheMs));
    this.#timer ??= setInterval(() => this.#checkAll(), everyMs).unref();
    return () => {
      watched.refused.delete(refused);
      if (watched.refused.size > 0 || this.#watched.get(name) !== watched) return;
      this.#watched.delete(name);
      if (this.#watched.size === 0) this.#rest();
    };
  }

  close(): void {
    this.#stopListening();
    this.#rest();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #checkAll(): void {
    for (const watched of this.#watched.values()) void this.#check(watched);
  }

  async #check({ admission, refused }: Watched): Promise<void> {
    try {
      await this.#admit(admission);
    } catch (error) {
      // A database that is away says nothing about the key.
      if (!(error instanceof AppError) || (error.status !== 401 && error.status !== 403)) return;
      for (const tell of [...refused]) tell(error);
    }
  }

  async #admit({ authorization, caller, scope }: Admission): Promise<void> {
    const { authenticator, authorizer } = this.#deps;
    const now = await authenticator.authenticate(authorization);
    // A key that was moved is another key to whoever it was let in as.
    if (now.tenant !== caller.tenant || now.workspace !== caller.workspace) throw new AppError("unauthenticated");
    await authorizer.authorize(now, scope);
  }
}
