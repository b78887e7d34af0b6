import { type Change, NO_CHANGE, type Store } from "../../store/port/store.ts";
import {
  type Opening,
  openStream,
  type StreamDeps,
  type StreamOutput,
  type StreamSubscriber,
} from "./stream-subscriber.ts";

/** Reads for all subscribers of one tenant. */
interface Feed<S> {
  readonly subscribers: ReadonlySet<S>;
  /** Whether the feed can be dropped. */
  readonly isIdle: boolean;
  add(subscriber: S): void;
  remove(subscriber: S): void;
  changed(change: Change): void;
  /** Reads on for a subscriber that can receive again. */
  resume(): void;
}

export interface Followed<F> {
  readonly feed: F;
  /** Drops the feed when it is idle. */
  stopWhenIdle(): void;
}

/** One feed per tenant with live streams, gone with its last subscriber. */
export abstract class TenantFeeds<F extends Feed<S>, S extends StreamSubscriber<string>> {
  readonly #deps: StreamDeps;
  readonly #rereadMs: number;
  readonly #followed = new Map<string, Followed<F> & { stop(): void }>();
  readonly #stopListening: () => void;

  /** `rereadMs`: how often a feed reads without a notification, because one may be lost. */
  constructor(store: Pick<Store, "onChange">, deps: StreamDeps, rereadMs: number) {
    this.#deps = deps;
    this.#rereadMs = rereadMs;
    this.#stopListening = store.onChange((change) => {
      for (const { feed } of this.#followed.values()) feed.changed(change);
    });
  }

  protected abstract make(tenant: string): F;

  /** Throws before anything is sent when there is no room or the host is shutting down. */
  checkRoom(tenant: string): void {
    this.#deps.room.check(tenant);
  }

  /** Ends every stream after the frames that wait. */
  closeAll(): void {
    this.#stopListening();
    for (const { feed, stop } of [...this.#followed.values()]) {
      for (const subscriber of feed.subscribers) subscriber.finish();
      stop();
    }
  }

  protected openOn(opening: Opening, make: (output: StreamOutput) => S): void {
    this.checkRoom(opening.tenant);
    if (opening.response.destroyed) return;
    const { feed, stopWhenIdle } = this.followed(opening.tenant);
    const subscriber = openStream(this.#deps, opening, make, {
      drained: () => feed.resume(),
      closed: (closed) => {
        feed.remove(closed);
        stopWhenIdle();
      },
    });
    if (subscriber !== undefined) feed.add(subscriber);
  }

  protected followed(tenant: string): Followed<F> {
    const existing = this.#followed.get(tenant);
    if (existing) return existing;
    const feed = this.make(tenant);
    const timers = [
      setInterval(() => feed.changed({ ...NO_CHANGE, runIds: "all" }), this.#rereadMs),
      setInterval(() => {
        for (const subscriber of feed.subscribers) subscriber.keepAlive();
      }, this.#deps.settings.keepAliveMs),
    ];
    for (const timer of timers) timer.unref();
    const stop = () => {
      for (const timer of timers) clearInterval(timer);
      if (this.#followed.get(tenant) === followed) this.#followed.delete(tenant);
    };
    const followed = {
      feed,
      stop,
      stopWhenIdle: () => {
        if (feed.isIdle) stop();
      },
    };
    this.#followed.set(tenant, followed);
    return followed;
  }
}
