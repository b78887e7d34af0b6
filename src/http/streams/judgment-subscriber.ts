import { isWanted, type Wanted } from "../../engine/judgments/annotation-filter.ts";
import { blindness } from "../../engine/judgments/list-annotations.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { ChangePlace } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import type { ChangeFrame } from "./change-frame.ts";
import { idOfPlace } from "./judgment-places.ts";
import type { SseSocket } from "./sse-socket.ts";
import type { StreamTally } from "./stream-room.ts";

export interface JudgmentSubscription {
  readonly caller: Caller;
  /** Undefined: nothing can match. */
  readonly wanted: Wanted | undefined;
  /** Everything after it is to be told. */
  readonly place: ChangePlace;
}

/**
 * One connection that follows judgments. It goes through the history of its tenant by its own place, so nothing is told
 * twice and nothing is passed over; while its socket is full it stays where it is.
 */
export class JudgmentSubscriber {
  readonly #store: Pick<Store, "membershipOf">;
  readonly #socket: SseSocket;
  readonly #tally: StreamTally;
  readonly #subscription: JudgmentSubscription;
  #state: "following" | "lagging" | "ended" = "following";
  #place: ChangePlace;
  /** There may be more after its place. */
  #behind = true;

  constructor(
    { store, tally }: { store: Pick<Store, "membershipOf">; tally: StreamTally },
    socket: SseSocket,
    subscription: JudgmentSubscription,
  ) {
    this.#store = store;
    this.#tally = tally;
    this.#socket = socket;
    this.#subscription = subscription;
    this.#place = subscription.place;
  }

  get place(): ChangePlace {
    return this.#place;
  }

  /** Whether it wants to read on from its place. */
  get wantsMore(): boolean {
    return this.#state === "following" && this.#behind;
  }

  begin(): void {
    this.#socket.write(`id: ${idOfPlace(this.#place)}\n\n`);
  }

  told(): void {
    this.#behind = true;
  }

  /** There was nothing after its place when this was read. `told` undoes it. */
  upToDate(): void {
    this.#behind = false;
  }

  /** What follows its place. */
  async take(page: readonly ChangeFrame[]): Promise<void> {
    for (const news of page) {
      const shown = await this.#isShown(news);
      if (this.#state !== "following") return;
      if (shown && this.#socket.full) {
        this.#enter("lagging");
        return;
      }
      if (shown) this.#write(news.frame());
      this.#place = news.place;
    }
  }

  drained(): void {
    if (this.#state !== "lagging") return;
    this.#enter("following");
    this.#behind = true;
  }

  keepAlive(): void {
    if (this.#state !== "ended") this.#socket.keepAlive();
  }

  /** Ends the stream politely: the reader still gets what was sent. */
  finish(): void {
    if (this.#state === "ended") return;
    this.release();
    this.#socket.end();
  }

  cut(): void {
    this.release();
    this.#socket.destroy();
  }

  /** Lets go of everything but the connection. */
  release(): void {
    this.#enter("ended");
  }

  /** A feed reads for a whole tenant. */
  async #isShown(news: ChangeFrame): Promise<boolean> {
    const { annotation } = news;
    const { caller, wanted } = this.#subscription;
    if (wanted === undefined || !isWanted(wanted, annotation)) return false;
    if (caller.workspace !== undefined && caller.workspace !== annotation.workspace) return false;
    if (annotation.queueItemId === undefined) return news.isToldTo(true);
    // Read now: a stream may outlive the role that it began with, and blind queues hide less from admins.
    const { roles } = await this.#store.membershipOf(caller, caller.principal);
    const { blindFor } = blindness({ ...caller, roles });
    return news.isToldTo(blindFor === undefined || blindFor === annotation.actor);
  }

  #write(frame: string): void {
    this.#tally.frames += 1;
    this.#socket.write(frame);
  }

  #enter(state: "following" | "lagging" | "ended"): void {
    if (this.#state === "lagging") this.#tally.lagging -= 1;
    if (state === "lagging") this.#tally.lagging += 1;
    this.#state = state;
  }
}
