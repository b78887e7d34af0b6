import type { ServerResponse } from "node:http";
import type { Host } from "../../engine/host.ts";
import { annotationDoc } from "../../engine/judgments/annotation-view.ts";
import { AnnotationFeeds } from "./annotation-feeds.ts";
import { RunChanges } from "./run-changes.ts";
import { RunFeed } from "./run-feed.ts";
import { plainFrame } from "./sse-frame.ts";
import { SseSocket } from "./sse-socket.ts";
import { STREAM_DEFAULTS, StreamRoom, type StreamSettings } from "./stream-room.ts";
import { Subscriber, type Subscription } from "./subscriber.ts";

export interface RunFeedsOptions {
  readonly settings?: Partial<StreamSettings>;
  /** Told of what went wrong when no request is left to answer with it. */
  report(error: unknown): void;
}

export interface OpenStream extends Subscription {
  readonly runId: string;
  /** Whose streams are counted together. */
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
  readonly annotations: AnnotationFeeds;
  readonly #host: Host;
  readonly #followed = new Map<string, Followed>();

  constructor(host: Host, { settings, report }: RunFeedsOptions) {
    this.settings = { ...STREAM_DEFAULTS, ...settings };
    this.#host = host;
    this.report = report;
    this.room = new StreamRoom(this.settings);
    this.changes = new RunChanges(host.store, this.settings.rereadMs);
    this.annotations = new AnnotationFeeds(host.store, { rereadMs: this.settings.rereadMs, report });
  }

  /** To be awaited before `open`: a judgment that is recorded once the stream is open must not be missed. */
  async ready(tenant: string): Promise<void> {
    if (this.#host.capabilities.has("feedback")) await this.annotations.ready(tenant);
  }

  /** Throws before anything is sent when there is no room or the host is going down. */
  checkRoom(tenant: string): void {
    this.room.check(tenant);
  }

  /** From here on the response belongs to the stream. Throws like `checkRoom`. */
  open({ runId, response, ...subscription }: OpenStream): void {
    const { tenant } = subscription.visible;
    this.checkRoom(tenant);
    // The client left while its run was looked up: `close` was before us and would never free what is made here.
    if (response.destroyed) return;
    const followed = this.#follow(runId, tenant);
    const socket = new SseSocket(response, this.settings.bufferedBytesMax);
    const shared = { host: this.#host, tally: this.room.tally, report: this.report };
    const subscriber = new Subscriber(shared, followed.feed, socket, subscription);
    followed.subscribers.add(subscriber);
    const leave = this.room.take(tenant);
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
    this.annotations.close();
    for (const { subscribers } of this.#followed.values()) {
      for (const subscriber of subscribers) subscriber.finish();
    }
  }

  #follow(runId: string, tenant: string): Followed {
    const standing = this.#followed.get(runId);
    if (standing) return standing;
    const feed = new RunFeed(runId, this.#host.store, this.report);
    const subscribers = new Set<Subscriber>();
    const unfollow = this.changes.follow(runId, () => feed.wake());
    const timer = setInterval(() => {
      for (const subscriber of subscribers) subscriber.keepAlive();
    }, this.settings.keepAliveMs).unref();
    const unhear = this.#hear(runId, tenant, subscribers);
    const stop = () => {
      unfollow();
      unhear();
      clearInterval(timer);
      this.#followed.delete(runId);
    };
    const followed = { feed, subscribers, stop };
    this.#followed.set(runId, followed);
    return followed;
  }

  /** Judgments are no events: whoever is connected is told at once, and nobody afterwards. */
  #hear(runId: string, tenant: string, subscribers: ReadonlySet<Subscriber>): () => void {
    if (!this.#host.capabilities.has("feedback")) return () => {};
    return this.annotations.listen(tenant, (changes) => {
      for (const { change, annotation } of changes) {
        if (change !== "recorded" || annotation.runId !== runId) continue;
        const frame = plainFrame("run.annotated", JSON.stringify(annotationDoc(annotation)));
        for (const subscriber of subscribers) subscriber.annotated(frame);
      }
    });
  }
}
