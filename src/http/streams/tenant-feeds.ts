interface Subscriber {
  keepAlive(): void;
  finish(): void;
}

interface Feed {
  readonly subscribers: ReadonlySet<Subscriber>;
}

export interface TenantFeedsOptions<F extends Feed> {
  make(tenant: string): F;
  /** Called at an interval, because the store's own word may be lost. */
  reread(feed: F): void;
  readonly rereadMs: number;
  readonly keepAliveMs: number;
}

export interface Followed<F extends Feed> {
  readonly feed: F;
  /** To be called when the last subscriber has gone. */
  stop(): void;
}

/** What this process follows for its streams: one feed per tenant, with its timers. */
export class TenantFeeds<F extends Feed> {
  readonly #options: TenantFeedsOptions<F>;
  readonly #followed = new Map<string, Followed<F>>();

  constructor(options: TenantFeedsOptions<F>) {
    this.#options = options;
  }

  get all(): F[] {
    return [...this.#followed.values()].map(({ feed }) => feed);
  }

  of(tenant: string): Followed<F> {
    const standing = this.#followed.get(tenant);
    if (standing) return standing;
    const { make, reread, rereadMs, keepAliveMs } = this.#options;
    const feed = make(tenant);
    const timers = [
      setInterval(() => reread(feed), rereadMs),
      setInterval(() => {
        for (const subscriber of feed.subscribers) subscriber.keepAlive();
      }, keepAliveMs),
    ];
    for (const timer of timers) timer.unref();
    const stop = () => {
      for (const timer of timers) clearInterval(timer);
      this.#followed.delete(tenant);
    };
    const followed = { feed, stop };
    this.#followed.set(tenant, followed);
    return followed;
  }

  /** Ends every stream after what it still has to say. */
  finishAll(): void {
    for (const feed of this.all) for (const subscriber of feed.subscribers) subscriber.finish();
  }
}
