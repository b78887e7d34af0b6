import type { ServerResponse } from "node:http";
import type { Host } from "../../engine/host.ts";
import { JudgmentFeed } from "./judgment-feed.ts";
import { JudgmentSubscriber, type JudgmentSubscription } from "./judgment-subscriber.ts";
import { SseSocket } from "./sse-socket.ts";
import type { StreamRoom, StreamSettings } from "./stream-room.ts";
import { TenantFeeds } from "./tenant-feeds.ts";

export interface JudgmentFeedsOptions {
  readonly settings: StreamSettings;
  /** Shared with the streams of runs. */
  readonly room: StreamRoom;
  readonly report: (error: unknown) => void;
}

export interface OpenJudgments extends JudgmentSubscription {
  /** Headers set on it already are sent too. */
  readonly response: ServerResponse;
}

/** Everything this process has open to those who follow judgments: one feed per tenant, gone with its last subscriber. */
export class JudgmentFeeds {
  readonly #host: Host;
  readonly #options: JudgmentFeedsOptions;
  readonly #feeds: TenantFeeds<JudgmentFeed>;
  readonly #stopListening: () => void;

  constructor(host: Host, options: JudgmentFeedsOptions) {
    this.#host = host;
    this.#options = options;
    const { settings, report } = options;
    this.#feeds = new TenantFeeds({
      make: (tenant) => new JudgmentFeed(host.store, { tenant, report }),
      reread: (feed) => feed.wake(),
      rereadMs: settings.rereadMs,
      keepAliveMs: settings.keepAliveMs,
    });
    this.#stopListening = host.store.onChange(({ runIds, annotations }) => {
      if (annotations || runIds === "all") for (const feed of this.#feeds.all) feed.wake();
    });
  }

  /** Throws before anything is sent when there is no room or the host is going down. */
  checkRoom(tenant: string): void {
    this.#options.room.check(tenant);
  }

  /** From here on the response belongs to the stream. Throws like `checkRoom`. */
  open({ response, ...subscription }: OpenJudgments): void {
    const { room, settings } = this.#options;
    const { tenant } = subscription.caller;
    room.check(tenant);
    // The client left while its place was looked up: `close` was before us and would never free what is made here.
    if (response.destroyed) return;
    const { feed, stop } = this.#feeds.of(tenant);
    const socket = new SseSocket(response, settings.bufferedBytesMax);
    const subscriber = new JudgmentSubscriber({ store: this.#host.store, tally: room.tally }, socket, subscription);
    const leave = room.take(tenant);
    socket.open(settings.stallMs, {
      drained: () => {
        subscriber.drained();
        feed.goOn();
      },
      closed: () => {
        subscriber.release();
        leave();
        feed.remove(subscriber);
        if (feed.subscribers.size === 0) stop();
      },
    });
    subscriber.begin();
    feed.add(subscriber);
  }

  /** Ends every stream after what it still has to say. */
  closeAll(): void {
    this.#stopListening();
    this.#feeds.finishAll();
  }
}
