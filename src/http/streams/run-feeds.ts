import type { ServerResponse } from "node:http";
import type { Host } from "../../engine/host.ts";
import { annotationDoc } from "../../engine/judgments/annotation-view.ts";
import { plainFrame } from "./event-frames.ts";
import { JudgmentFeeds } from "./judgment-feeds.ts";
import { RunChanges } from "./run-changes.ts";
import { RunFeed } from "./run-feed.ts";
import { RunSubscriber, type RunSubscription } from "./run-subscriber.ts";
import { STREAM_DEFAULTS, StreamRoom, type StreamSettings } from "./stream-room.ts";
import { openStream, type StreamDeps } from "./stream-subscriber.ts";

export interface RunFeedsOptions {
  readonly settings?: Partial<StreamSettings>;
  /** Reports a failure that comes too late to be a response. */
  report(error: unknown): void;
}

export interface OpenRun extends RunSubscription {
  readonly runId: string;
  readonly response: ServerResponse;
}

interface Followed {
  readonly feed: RunFeed;
  readonly subscribers: Set<RunSubscriber>;
  stop(): void;
}

/** Streams of runs: one feed per run, gone with its last subscriber. The room that it makes is for all streams of the process. */
export class RunFeeds implements StreamDeps {
  readonly settings: StreamSettings;
  readonly changes: RunChanges;
  readonly report: (error: unknown) => void;
  readonly room: StreamRoom;
  readonly judgments: JudgmentFeeds;
  readonly #host: Host;
  readonly #followed = new Map<string, Followed>();

  constructor(host: Host, { settings, report }: RunFeedsOptions) {
    this.settings = { ...STREAM_DEFAULTS, ...settings };
    this.#host = host;
    this.report = report;
    this.room = new StreamRoom(this.settings);
    this.changes = new RunChanges(host.store, this.settings.rereadMs);
    this.judgments = new JudgmentFeeds(host, this);
  }

  /** To be awaited before `open`: judgments that are recorded once the stream is open are shown on it. */
  async ready(tenant: string): Promise<void> {
    if (this.#host.capabilities.has("feedback")) await this.judgments.ready(tenant);
  }

  /** Throws before anything is sent when there is no room or the host is shutting down. */
  checkRoom(tenant: string): void {
    this.room.check(tenant);
  }

  /** Makes the response a stream of the run. Throws like `checkRoom`. */
  open({ runId, response, ...subscription }: OpenRun): void {
    const { tenant } = subscription.visible;
    this.checkRoom(tenant);
    if (response.destroyed) return;
    const { feed, subscribers, stop } = this.#follow(runId, tenant);
    const deps = { host: this.#host, report: this.report };
    openStream(
      this,
      { response, tenant },
      (output) => {
        const subscriber = new RunSubscriber(deps, feed, output, subscription);
        subscribers.add(subscriber);
        return subscriber;
      },
      {
        closed: (subscriber) => {
          subscribers.delete(subscriber);
          if (subscribers.size === 0) stop();
        },
      },
    );
  }

  /** For the metrics of this process. */
  counts(): { readonly openStreams: number; readonly laggingStreams: number; readonly framesSent: number } {
    const { open, tally } = this.room;
    return { openStreams: open, laggingStreams: tally.lagging, framesSent: tally.frames };
  }

  /** Ends every stream after the frames that wait, and lets waiting polls answer. None is opened afterwards. */
  closeAll(): void {
    this.room.close();
    this.changes.close();
    this.judgments.closeAll();
    for (const { subscribers } of this.#followed.values()) {
      for (const subscriber of subscribers) subscriber.finish();
    }
  }

  #follow(runId: string, tenant: string): Followed {
    const existing = this.#followed.get(runId);
    if (existing) return existing;
    const feed = new RunFeed(runId, this.#host.store, this.report);
    const subscribers = new Set<RunSubscriber>();
    const unfollow = this.changes.follow(runId, () => feed.wake());
    const timer = setInterval(() => {
      for (const subscriber of subscribers) subscriber.keepAlive();
    }, this.settings.keepAliveMs).unref();
    const unlisten = this.#showJudgments(runId, tenant, subscribers);
    const stop = () => {
      unfollow();
      unlisten();
      clearInterval(timer);
      this.#followed.delete(runId);
    };
    const followed = { feed, subscribers, stop };
    this.#followed.set(runId, followed);
    return followed;
  }

  /** Judgments are no events of the log: they are sent to open streams, and not to clients that connect later. */
  #showJudgments(runId: string, tenant: string, subscribers: ReadonlySet<RunSubscriber>): () => void {
    if (!this.#host.capabilities.has("feedback")) return () => {};
    return this.judgments.listen(tenant, ({ change, annotation }) => {
      if (change !== "recorded" || annotation.runId !== runId) return;
      const frame = plainFrame("run.annotated", JSON.stringify(annotationDoc(annotation)));
      for (const subscriber of subscribers) subscriber.annotated(frame);
    });
  }
}
