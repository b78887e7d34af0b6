import type { ServerResponse } from "node:http";
import type { Host } from "../engine/host.ts";
import { InboxFeed } from "./inbox-feed.ts";
import { InboxSubscriber, type InboxSubscription } from "./inbox-subscriber.ts";
import { SseSocket } from "./sse-socket.ts";
import type { StreamRoom } from "./stream-room.ts";
import type { StreamSettings } from "./stream-settings.ts";

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

interface Followed {
  readonly feed: InboxFeed;
  stop(): void;
}

/** Every live inbox of this process: one feed per tenant, gone with its last subscriber. */
export class InboxFeeds {
  readonly #host: Host;
  readonly #options: InboxFeedsOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #stopListening: () => void;

  constructor(host: Host, options: InboxFeedsOptions) {
    this.#host = host;
    this.#options = options;
    this.#stopListening = host.store.onChange(({ runIds, keys }) => {
      for (const { feed } of this.#followed.values()) {
        if (runIds === "all" || keys) feed.recheck();
        if (runIds !== "all" && runIds.length > 0) feed.lookAt(runIds);
      }
    });
  }

  /** Throws before anything is sent when there is no room or the host is going down. */
  checkRoom(keyId: string): void {
    this.#options.room.check(keyId);
  }

  /** From here on the response belongs to the stream. Throws like `checkRoom`. */
  open({ response, ...subscription }: OpenInbox): void {
    const { room, settings } = this.#options;
    const { keyId, tenant } = subscription.caller;
    room.check(keyId);
    if (response.destroyed) return;
    const { feed, stop } = this.#follow(tenant);
    const socket = new SseSocket(response, settings.bufferedBytesMax);
    const subscriber = new InboxSubscriber({ host: this.#host, tally: room.tally }, socket, subscription);
    const leave = room.take(keyId);
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
    for (const { feed } of this.#followed.values()) {
      for (const subscriber of feed.subscribers) subscriber.finish();
    }
  }

  #follow(tenant: string): Followed {
    const standing = this.#followed.get(tenant);
    if (standing) return standing;
    const { settings, report } = this.#options;
    const feed = new InboxFeed(this.#host, { tenant, retryMs: settings.rereadMs, report });
    const reread = setInterval(() => feed.recheck(), settings.inboxRereadMs).unref();
    const alive = setInterval(() => {
      for (const subscriber of feed.subscribers) subscriber.keepAlive();
    }, settings.keepAliveMs).unref();
    const stop = () => {
      clearInterval(reread);
      clearInterval(alive);
      this.#followed.delete(tenant);
    };
    const followed = { feed, stop };
    this.#followed.set(tenant, followed);
    return followed;
  }
}
