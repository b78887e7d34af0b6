import { AppError } from "../../protocol/errors.ts";
import { GroupCommit, type Settled } from "../units/group-commit.ts";
import { OF_HOST } from "../units/tenant-line.ts";
import { closedError } from "./database-error.ts";
import type { Operation, Outcome } from "./operations.ts";

/** The one connection that writes, wherever it is. */
export interface WriteConnection {
  /** Runs the operations in one transaction. Never called again before the last call settled. */
  commit(operations: readonly Operation[]): Promise<Outcome[]>;
  close(): Promise<void>;
}

/** Characters of a batch, all but its first item: more of them would make all other callers wait for one transaction. */
const BATCH_SIZE = 1_000_000;

/** The cost of a row without its texts. */
const ROW_SIZE = 64;

/** About how much work a commit is, in characters. It is unknown for a deletion, which is committed alone. */
function sizeOf(operation: Operation): number {
  if (operation.kind !== "unit") return ROW_SIZE;
  const { writes, checks } = operation.unit;
  if (checks.deletions.length > 0) return Number.POSITIVE_INFINITY;
  let size = 0;
  for (const [, values] of writes) {
    size += ROW_SIZE;
    for (const value of values)
      size += typeof value === "object" || typeof value === "string" ? (value?.length ?? 0) : 0;
  }
  return size;
}

function tenantOf(operation: Operation): string {
  return operation.kind === "unit" ? operation.unit.checks.tenant : OF_HOST;
}

/** The queue in front of the write connection. */
export class Writer {
  readonly #connection: WriteConnection;
  /** Called once per batch, when it is durable. */
  readonly #onCommitted: (operations: readonly Operation[], outcomes: readonly Outcome[]) => void;
  readonly #group = new GroupCommit<Operation, Outcome>((batch) => this.#commit(batch), sizeOf, {
    sizeMax: BATCH_SIZE,
    tenantOf,
  });
  #closed = false;

  constructor(
    connection: WriteConnection,
    onCommitted: (operations: readonly Operation[], outcomes: readonly Outcome[]) => void,
  ) {
    this.#connection = connection;
    this.#onCommitted = onCommitted;
  }

  /** Resolves when the operation is durable or was refused; throws `unavailable` when the database failed. */
  async run(operation: Operation): Promise<Outcome> {
    if (this.#closed) throw closedError();
    return this.#group.add(operation);
  }

  /** Finishes all queued operations, then closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#group.idle();
    await this.#connection.close();
  }

  async #commit(operations: readonly Operation[]): Promise<Settled<Outcome>[]> {
    const outcomes = await this.#connection.commit(operations);
    this.#onCommitted(operations, outcomes);
    return outcomes.map(settled);
  }
}

function settled(outcome: Outcome): Settled<Outcome> {
  if (outcome.kind !== "failed") return { result: outcome };
  const { databaseError, message } = outcome;
  return { error: databaseError ? new AppError("unavailable", { reason: message }) : new Error(message) };
}
