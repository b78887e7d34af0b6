import type { ServerResponse } from "node:http";
import type { Host } from "../../engine/host.ts";
import { isWanted, type Wanted } from "../../engine/judgments/annotation-filter.ts";
import { blindness } from "../../engine/judgments/list-annotations.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { ChangePlace } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import { ChangeFeed, type ChangeFrame, type ChangeListener, idOfPlace } from "./change-feed.ts";
import { type StreamDeps, type StreamOutput, StreamSubscriber } from "./stream-subscriber.ts";
import { TenantFeeds } from "./tenant-feeds.ts";

interface JudgmentSubscription {
  readonly caller: Caller;
  /** Undefined: nothing can match. */
  readonly wanted: Wanted | undefined;
  /** Every change after it is sent. */
  readonly place: ChangePlace;
}

/**
 * One connection that follows judgments. It reads the history of its tenant from its own place, so each change is sent once and none is
 * skipped; while its socket is full it stays at its place.
 */
class JudgmentSubscriber extends StreamSubscriber {
  readonly #store: Pick<Store, "membershipOf">;
  readonly #subscription: JudgmentSubscription;
  #place: ChangePlace;
  #isBehind = true;

  constructor(store: Pick<Store, "membershipOf">, output: StreamOutput, subscription: JudgmentSubscription) {
    super(output, "following");
    this.#store = store;
    this.#subscription = subscription;
    this.#place = subscription.place;
  }

  get place(): ChangePlace {
    return this.#place;
  }

  get wantsMore(): boolean {
    return this.state === "following" && this.#isBehind;
  }

  /** The first id, so that a client can resume before it has received a change. */
  opened(): void {
    this.write(`id: ${idOfPlace(this.#place)}\n\n`, 0);
  }

  markBehind(): void {
    this.#isBehind = true;
  }

  markCurrent(): void {
    this.#isBehind = false;
  }

  async take(page: readonly ChangeFrame[]): Promise<void> {
    for (const one of page) {
      const shown = await this.#isShown(one);
      if (this.state !== "following") return;
      if (shown && this.isFull) return this.enter("lagging");
      if (shown) this.write(one.frame());
      this.#place = one.change.place;
    }
  }

  drained(): void {
    if (this.state !== "lagging") return;
    this.enter("following");
    this.#isBehind = true;
  }

  /** A feed reads for a whole tenant. */
  async #isShown(one: ChangeFrame): Promise<boolean> {
    const { annotation } = one.change;
    const { caller, wanted } = this.#subscription;
    if (wanted === undefined || !isWanted(wanted, annotation)) return false;
    if (caller.workspace !== undefined && caller.workspace !== annotation.workspace) return false;
    if (annotation.queueItemId === undefined) return one.isShownTo(true);
    // Read now: a stream may outlive the role that it began with, and blind queues hide less from admins.
    const { roles } = await this.#store.membershipOf(caller, caller.principal);
    const { blindFor } = blindness({ ...caller, roles });
    return one.isShownTo(blindFor === undefined || blindFor === annotation.actor);
  }
}

export interface OpenJudgments extends JudgmentSubscription {
  readonly response: ServerResponse;
}

/** How long a feed without listeners is kept: the next stream of the tenant then opens without a look-up. */
const LINGER_MS = 10_000;

/** Streams of judgments, and the judgments that streams of runs show. */
export class JudgmentFeeds extends TenantFeeds<ChangeFeed<JudgmentSubscriber>, JudgmentSubscriber> {
  readonly #host: Host;
  readonly #deps: StreamDeps;

  constructor(host: Host, deps: StreamDeps) {
    super(host.store, deps, deps.settings.rereadMs);
    this.#host = host;
    this.#deps = deps;
  }

  protected make(tenant: string) {
    return new ChangeFeed<JudgmentSubscriber>(this.#host.store, tenant, this.#deps.report);
  }

  /** Makes the response a stream of judgments. Throws like `checkRoom`. */
  open({ response, ...subscription }: OpenJudgments): void {
    const { tenant } = subscription.caller;
    this.openOn({ response, tenant }, (output) => new JudgmentSubscriber(this.#host.store, output, subscription));
  }

  /**
   * To be awaited right before `listen`: changes that are committed afterwards reach the listener. The feed is kept during the look-up,
   * however long it takes, because a new feed would have no place.
   */
  async ready(tenant: string): Promise<void> {
    const { feed } = this.followed(tenant);
    const release = this.#hold(tenant);
    try {
      await feed.live.ready();
    } finally {
      release();
    }
  }

  /** Returns what ends the listening. */
  listen(tenant: string, listener: ChangeListener): () => void {
    const { listeners } = this.followed(tenant).feed.live;
    const release = this.#hold(tenant);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      release();
    };
  }

  /** Keeps the feed of the tenant until `LINGER_MS` after the release. */
  #hold(tenant: string): () => void {
    const { feed, stopWhenIdle } = this.followed(tenant);
    const letGo = feed.live.hold();
    return () => {
      const timer = setTimeout(() => {
        letGo();
        stopWhenIdle();
      }, LINGER_MS);
      timer.unref();
    };
  }
}
