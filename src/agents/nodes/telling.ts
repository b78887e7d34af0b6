import type { EffectContext } from "../../engine/worker/node-type.ts";
import type { EventDraft } from "../../protocol/events.ts";

const ATTEMPTS = 3;

/** Writes what an agent does while it does it, in order: what comes while one batch is being written is the next one. */
export class Telling {
  readonly #context: Pick<EffectContext, "append" | "signal">;
  #pending: EventDraft[] = [];
  #writing: Promise<void> | undefined;
  #refused: { readonly reason: unknown } | undefined;

  constructor(context: Pick<EffectContext, "append" | "signal">) {
    this.#context = context;
  }

  readonly tell = (event: EventDraft): void => {
    if (this.#refused !== undefined) return;
    this.#pending.push(event);
    this.#writing ??= this.#write();
  };

  /** Writes these events and their side writes in one commit, after all earlier events. Rejects when they were not written. */
  readonly write: EffectContext["append"] = async (events, beside) => {
    await this.told();
    await this.#context.append(events, beside);
  };

  /** Resolves once all of it is durable. Rejects when it no longer counts. */
  readonly told = async (): Promise<void> => {
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

  /** What another node wanted written in the same commit may have been refused, and these with it; then they are written again. */
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
