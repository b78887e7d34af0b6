import type { Store } from "../../store/port/store.ts";
import { AnnotationFeed, type AnnotationListener } from "./annotation-feed.ts";

export interface AnnotationFeedsOptions {
  /** How often a feed looks although nobody told it to. */
  readonly rereadMs: number;
  readonly report: (error: unknown) => void;
}

interface Followed {
  readonly feed: AnnotationFeed;
  readonly reread: NodeJS.Timeout;
  idle?: NodeJS.Timeout;
}

/** A feed that nobody listens to is kept a moment: the next stream of the tenant then opens without a look-up. */
const LINGER_MS = 10_000;

/** The judgments that this process hears of: one feed per tenant that somebody follows. */
export class AnnotationFeeds {
  readonly #store: Store;
  readonly #options: AnnotationFeedsOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #stopListening: () => void;

  constructor(store: Store, options: AnnotationFeedsOptions) {
    this.#store = store;
    this.#options = options;
    this.#stopListening = store.onChange(({ annotations, runIds }) => {
      if (annotations || runIds === "all") for (const { feed } of this.#followed.values()) feed.wake();
    });
  }

  /**
   * To be awaited right before `listen`: what is recorded afterwards is heard. The feed is kept meanwhile, however long the
   * database takes: one that is dropped and made anew by `listen` has no place and would read nothing.
   */
  async ready(tenant: string): Promise<void> {
    const followed = this.#follow(tenant);
    clearTimeout(followed.idle);
    try {
      await followed.feed.ready();
    } finally {
      this.#dropWhenIdle(tenant, followed);
    }
  }

  /** Returns what ends the listening. */
  listen(tenant: string, listener: AnnotationListener): () => void {
    const followed = this.#follow(tenant);
    clearTimeout(followed.idle);
    followed.feed.listeners.add(listener);
    return () => {
      followed.feed.listeners.delete(listener);
      this.#dropWhenIdle(tenant, followed);
    };
  }

  close(): void {
    this.#stopListening();
    for (const [tenant, followed] of this.#followed) this.#drop(tenant, followed);
  }

  #follow(tenant: string): Followed {
    const standing = this.#followed.get(tenant);
    if (standing) return standing;
    const feed = new AnnotationFeed(tenant, this.#store, this.#options.report);
    const reread = setInterval(() => feed.wake(), this.#options.rereadMs).unref();
    const followed: Followed = { feed, reread };
    this.#followed.set(tenant, followed);
    this.#dropWhenIdle(tenant, followed);
    return followed;
  }

  #dropWhenIdle(tenant: string, followed: Followed): void {
    if (followed.feed.listeners.size > 0) return;
    clearTimeout(followed.idle);
    followed.idle = setTimeout(() => this.#drop(tenant, followed), LINGER_MS).unref();
  }

  #drop(tenant: string, followed: Followed): void {
    clearTimeout(followed.idle);
    clearInterval(followed.reread);
    if (this.#followed.get(tenant) === followed) this.#followed.delete(tenant);
  }
}
