import type { ServerResponse } from "node:http";
import type { Host } from "../../engine/host.ts";
import { InboxFeed } from "./inbox-feed.ts";
import { InboxSubscriber, type InboxSubscription } from "./inbox-subscriber.ts";
import { SseSocket } from "./sse-socket.ts";
import type { StreamRoom, StreamSettings } from "./stream-room.ts";
import { TenantFeeds } from "./tenant-feeds.ts";

export interface InboxFeedsOptions {
  readonly settings: StreamSettings;
  /** Shared with the streams of runs. */
  readonly room: StreamRoom;
  readonly report: (error: unknown) => void;
}

export interface OpenInbox extends InboxSubscription {
  /** Headers set on it already are sent too. */
  readonly response: ServerResponse;
}

/** Every live inbox of this process: one feed per tenant, gone with its last subscriber. */
export class InboxFeeds {
  readonly #host: Host;
  readonly #options: InboxFeedsOptions;
  readonly #feeds: TenantFeeds<InboxFeed>;
  readonly #stopListening: () => void;

  constructor(host: Host, options: InboxFeedsOptions) {
    this.#host = host;
    this.#options = options;
    const { settings, report } = options;
    this.#feeds = new TenantFeeds({
      make: (tenant) => new InboxFeed(host, { tenant, retryMs: settings.rereadMs, report }),
      reread: (feed) => feed.recheck(),
      rereadMs: settings.inboxRereadMs,
      keepAliveMs: settings.keepAliveMs,
    });
    this.#stopListening = host.store.onChange(({ runIds, keys }) => {
      for (const feed of this.#feeds.all) {
        if (runIds === "all" || keys) feed.recheck();
        if (runIds !== "all" && runIds.length > 0) feed.lookAt(runIds);
      }
    });
  }

  /** Throws before anything is sent when there is no room or the host is going down. */
  checkRoom(tenant: string): void {
    this.#options.room.check(tenant);
  }

  /** From here on the response belongs to the stream. Throws like `checkRoom`. */
  open({ response, ...subscription }: OpenInbox): void {
    const { room, settings } = this.#options;
    const { tenant } = subscription.caller;
    room.check(tenant);
    if (response.destroyed) return;
    const { feed, stop } = this.#feeds.of(tenant);
    const socket = new SseSocket(response, settings.bufferedBytesMax);
    const subscriber = new InboxSubscriber({ host: this.#host, tally: room.tally }, socket, subscription);
    const leave = room.take(tenant);
    socket.open(settings.stallMs, {
      drained: () => {
        subscriber.drained();
        feed.wake();
      },
      closed: () => {
        subscriber.release();
        leave();
        feed.remove(subscriber);
        if (feed.subscribers.size === 0) stop();
      },
    });
    feed.add(subscriber);
  }

  /** Ends every stream after what it still has to say. */
  closeAll(): void {
    this.#stopListening();
    this.#feeds.finishAll();
  }
}
