import { AppError } from "../../protocol/errors.ts";
import { closedError } from "./database-trouble.ts";
import type { Operation, Outcome } from "./operations.ts";

/** The one connection that writes, wherever it is. */
export interface WriteConnection {
  /** Runs the operations in one transaction. Never called again before the last call settled. */
  commit(operations: readonly Operation[]): Promise<Outcome[]>;
  close(): Promise<void>;
}

interface Waiting {
  readonly operation: Operation;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/** So that a burst neither holds up a request behind thousands of others nor makes one huge message. */
const BATCH_MAX = 500;

/**
 * The queue in front of the write connection. Group commit: while one batch is on its way to the disk, the next one
 * gathers, and it goes out whole as soon as the first has returned. There is no timer; a lone request never waits.
 */
export class Writer {
  readonly #connection: WriteConnection;
  /** Told once per batch, with the operations that succeeded, after their callers. */
  readonly #onCommitted: (operations: readonly Operation[], outcomes: readonly Outcome[]) => void;
  #queue: Waiting[] = [];
  #busy = false;
  #scheduled = false;
  #closed = false;
  #whenIdle: (() => void) | undefined;

  constructor(
    connection: WriteConnection,
    onCommitted: (operations: readonly Operation[], outcomes: readonly Outcome[]) => void,
  ) {
    this.#connection = connection;
    this.#onCommitted = onCommitted;
  }

  /** Resolves when the operation is durable or was refused; throws `unavailable` when the database failed. */
  run(operation: Operation): Promise<Outcome> {
    if (this.#closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      this.#queue.push({ operation, resolve, reject });
      this.#schedule();
    });
  }

  /** Lets everything that was asked for happen, then closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#busy || this.#queue.length > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    await this.#connection.close();
  }

  /** At the end of this turn of the event loop: requests that arrived together are committed together. */
  #schedule(): void {
    if (this.#busy || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH_MAX);
      await this.#commit(batch);
    }
    this.#busy = false;
    this.#whenIdle?.();
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const operations = batch.map((waiting) => waiting.operation);
    let outcomes: Outcome[];
    try {
      outcomes = await this.#connection.commit(operations);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error as Error);
      return;
    }
    for (const [i, waiting] of batch.entries()) settle(waiting, outcomes[i]);
    this.#onCommitted(operations, outcomes);
  }
}

function settle(waiting: Waiting, outcome: Outcome | undefined): void {
  if (outcome === undefined) waiting.reject(new Error("the writer gave fewer outcomes than operations"));
  else if (outcome.kind !== "failed") waiting.resolve(outcome);
  else if (outcome.trouble) waiting.reject(new AppError("unavailable", { reason: outcome.message }));
  else waiting.reject(new Error(outcome.message));
}
