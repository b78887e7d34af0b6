import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import { ChangeFrame } from "./change-frame.ts";
import { idOfPlace } from "./judgment-places.ts";
import type { JudgmentSubscriber } from "./judgment-subscriber.ts";

const PAGE_ROWS = 100;

export interface JudgmentFeedOptions {
  readonly tenant: string;
  readonly report: (error: unknown) => void;
}

/**
 * The history of one tenant's judgments, followed by this process. Those who are at the same place share a read, and
 * every place gets one page in turn: whoever has a long way to go holds up nobody.
 */
export class JudgmentFeed {
  readonly #store: Pick<Store, "annotationChanges">;
  readonly #options: JudgmentFeedOptions;
  readonly #subscribers = new Set<JudgmentSubscriber>();
  #working = false;

  constructor(store: Pick<Store, "annotationChanges">, options: JudgmentFeedOptions) {
    this.#store = store;
    this.#options = options;
  }

  get subscribers(): ReadonlySet<JudgmentSubscriber> {
    return this.#subscribers;
  }

  add(subscriber: JudgmentSubscriber): void {
    this.#subscribers.add(subscriber);
    this.goOn();
  }

  remove(subscriber: JudgmentSubscriber): void {
    this.#subscribers.delete(subscriber);
  }

  /** There may be something new. */
  wake(): void {
    for (const subscriber of this.#subscribers) subscriber.told();
    this.goOn();
  }

  /** Reads for whoever wants more. */
  goOn(): void {
    if (!this.#working) void this.#work();
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      for (let groups = this.#groups(); groups.length > 0; groups = this.#groups()) {
        for (const group of groups) {
          await this.#readFor(group);
          await nextTurn();
        }
      }
    } catch (error) {
      this.#trouble(error);
    } finally {
      this.#working = false;
    }
  }

  #groups(): JudgmentSubscriber[][] {
    const groups = new Map<string, JudgmentSubscriber[]>();
    for (const subscriber of this.#subscribers) {
      if (!subscriber.wantsMore) continue;
      const key = idOfPlace(subscriber.place);
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push(subscriber);
    }
    return [...groups.values()];
  }

  async #readFor(group: readonly JudgmentSubscriber[]): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    const { place } = first;
    // Before the read: what is told while it goes on may have come too late for it.
    for (const subscriber of group) subscriber.upToDate();
    const changes = await this.#store.annotationChanges(this.#options.tenant, place, PAGE_ROWS);
    const page = changes.map((change) => new ChangeFrame(change));
    if (changes.length === PAGE_ROWS) for (const subscriber of group) subscriber.told();
    const taken = await Promise.allSettled(group.map((subscriber) => subscriber.take(page)));
    for (const one of taken) if (one.status === "rejected") throw one.reason;
  }

  /** Everybody is still at the place of what they were told last, and goes on from there when the feed is woken again. */
  #trouble(error: unknown): void {
    if (error instanceof AppError && error.mayRetry) return;
    this.#options.report(error);
    for (const subscriber of [...this.#subscribers]) subscriber.cut();
  }
}
