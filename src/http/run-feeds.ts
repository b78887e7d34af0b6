import type { ServerResponse } from "node:http";
import type { Host } from "../engine/host.ts";
import { RunChanges } from "./run-changes.ts";
import { RunFeed } from "./run-feed.ts";
import { SseSocket } from "./sse-socket.ts";
import { StreamRoom } from "./stream-room.ts";
import { STREAM_DEFAULTS, type StreamSettings } from "./stream-settings.ts";
import { Subscriber, type Subscription } from "./subscriber.ts";

export interface RunFeedsOptions {
  readonly settings?: Partial<StreamSettings>;
  /** Told of what went wrong when no request is left to answer with it. */
  report(error: unknown): void;
}

export interface OpenStream extends Subscription {
  readonly runId: string;
  /** Whose streams are counted together. */
  readonly keyId: string;
  /** Headers set on it already are sent too. */
  readonly response: ServerResponse;
}

interface Followed {
  readonly feed: RunFeed;
  readonly subscribers: Set<Subscriber>;
  stop(): void;
}

/** Everything this process has open to those who follow runs: one feed per run, gone with its last subscriber. */
export class RunFeeds {
  readonly settings: StreamSettings;
  readonly changes: RunChanges;
  readonly report: (error: unknown) => void;
  readonly room: StreamRoom;
  readonly #host: Host;
  readonly #followed = new Map<string, Followed>();

  constructor(host: Host, { settings, report }: RunFeedsOptions) {
    this.settings = { ...STREAM_DEFAULTS, ...settings };
    this.#host = host;
    this.report = report;
    this.room = new StreamRoom(this.settings);
    this.changes = new RunChanges(host.store, this.settings.rereadMs);
  }

  /** Throws before anything is sent when there is no room or the host is going down. */
  checkRoom(keyId: string): void {
    this.room.check(keyId);
  }

  /** From here on the response belongs to the stream. Throws like `checkRoom`. */
  open({ runId, keyId, response, ...subscription }: OpenStream): void {
    this.checkRoom(keyId);
    // The client left while its run was looked up: `close` was before us and would never free what is made here.
    if (response.destroyed) return;
    const followed = this.#follow(runId);
    const socket = new SseSocket(response, this.settings.bufferedBytesMax);
    const shared = { host: this.#host, tally: this.room.tally, report: this.report };
    const subscriber = new Subscriber(shared, followed.feed, socket, subscription);
    followed.subscribers.add(subscriber);
    const leave = this.room.take(keyId);
    socket.open(this.settings.stallMs, {
      drained: () => subscriber.drained(),
      closed: () => {
        subscriber.release();
        leave();
        followed.subscribers.delete(subscriber);
        if (followed.subscribers.size === 0) followed.stop();
      },
    });
    subscriber.catchUp();
  }

  /** For the metrics of this process. */
  counts(): { readonly openStreams: number; readonly laggingStreams: number; readonly framesSent: number } {
    const { open, tally } = this.room;
    return { openStreams: open, laggingStreams: tally.lagging, framesSent: tally.frames };
  }

  /** Ends every stream after what it still has to say, and lets waiting polls answer. None is opened afterwards. */
  closeAll(): void {
    this.room.close();
    this.changes.close();
    for (const { subscribers } of this.#followed.values()) {
      for (const subscriber of subscribers) subscriber.finish();
    }
  }

  #follow(runId: string): Followed {
    const standing = this.#followed.get(runId);
    if (standing) return standing;
    const feed = new RunFeed(runId, this.#host.store, this.report);
    const subscribers = new Set<Subscriber>();
    const unfollow = this.changes.follow(runId, () => feed.wake());
    const timer = setInterval(() => {
      for (const subscriber of subscribers) subscriber.keepAlive();
    }, this.settings.keepAliveMs).unref();
    const stop = () => {
      unfollow();
      clearInterval(timer);
      this.#followed.delete(runId);
    };
    const followed = { feed, subscribers, stop };
    this.#followed.set(runId, followed);
    return followed;
  }
}
