import type { EffectContext } from "../../engine/worker/node-type.ts";
import type { EventDraft } from "../../protocol/events.ts";

const ATTEMPTS = 3;

/** Writes the events of an agent while it works, in order: events that come while a batch is written are the next batch. */
export class EventAppender {
  readonly #context: Pick<EffectContext, "append" | "signal">;
  #pending: EventDraft[] = [];
  #writing: Promise<void> | undefined;
  #refused: { readonly reason: unknown } | undefined;

  constructor(context: Pick<EffectContext, "append" | "signal">) {
    this.#context = context;
  }

  readonly append = (event: EventDraft): void => {
    if (this.#refused !== undefined) return;
    this.#pending.push(event);
    this.#writing ??= this.#write();
  };

  /** Writes these events and their side writes in one commit, after all earlier events. Rejects when they were not written. */
  readonly write: EffectContext["append"] = async (events, sideWrites) => {
    await this.flushed();
    await this.#context.append(events, sideWrites);
  };

  /** Resolves once all events so far are durable. Rejects when they no longer count. */
  readonly flushed = async (): Promise<void> => {
    await this.#writing;
    if (this.#refused !== undefined) throw this.#refused.reason;
  };

  async #write(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      await this.#put(batch);
    }
    this.#writing = undefined;
  }

  /** A write of another node in the same commit may have been refused, and these events with it; then they are written again. */
  async #put(batch: readonly EventDraft[]): Promise<void> {
    const { append, signal } = this.#context;
    for (let attempt = 1; ; attempt++) {
      try {
        await append(batch);
        return;
      } catch (reason) {
        if (attempt < ATTEMPTS && !signal.aborted) continue;
        this.#refused = { reason };
        this.#pending = [];
        return;
      }
    }
  }
}
