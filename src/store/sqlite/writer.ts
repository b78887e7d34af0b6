import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { AppError } from "../../protocol/errors.ts";
import { GroupCommit, OF_HOST, type Settled } from "../units/group-commit.ts";
import { BatchCommitter } from "./commit-batch.ts";
import { closedError, explain } from "./database-error.ts";
import type { SqliteDatabase } from "./open-database.ts";
import { type Operation, type Outcome, splitWrites, toMessage } from "./operations.ts";

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

/** For a database in memory, which only the connection that made it can see. The caller closes the handle. */
export function writeInThisThread(db: SqliteDatabase): WriteConnection {
  const committer = new BatchCommitter(db);
  return { commit: async (operations) => committer.commit(operations), close: async () => {} };
}

/** Starts the thread that writes to the file. When it dies, this call and every later one throws `unavailable`. */
export async function writeInAnotherThread(path: string): Promise<WriteConnection> {
  // Without our own flags: test runners start Node with loaders that the thread has no use for.
  const worker = new Worker(threadScript(), { workerData: path, execArgv: [] });
  let answer: { resolve(outcomes: Outcome[]): void; reject(error: Error): void } | undefined;
  let death: Error | undefined;
  const die = (cause: unknown) => {
    death ??= new AppError("unavailable", { reason: "The thread that writes to the database ended" }, { cause });
    answer?.reject(death);
    answer = undefined;
  };
  await once(worker, "message").catch((error) => {
    throw explain(error);
  });
  worker.on("message", (outcomes: Outcome[]) => {
    answer?.resolve(outcomes);
    answer = undefined;
  });
  worker.on("error", die);
  worker.on("exit", (code) => die(new Error(`exit code ${code}`)));

  return {
    async commit(operations) {
      const { parts, rest } = splitWrites(operations);
      for (const part of parts) {
        worker.postMessage(part);
        await nextTurn();
      }
      return new Promise((resolve, reject) => {
        if (death !== undefined) return reject(death);
        answer = { resolve, reject };
        worker.postMessage(rest.map(toMessage));
      });
    },
    close: async () => {
      if (death !== undefined) return;
      const ended = once(worker, "exit");
      worker.postMessage(null);
      await ended;
    },
  };
}

/**
 * Node 20 cannot run TypeScript, and a thread does not inherit the test runner's loader: from source it runs the build, and of that
 * the bundle, which a thread loads in a fifth of the time that the modules take.
 */
function threadScript(): URL {
  if (!import.meta.url.endsWith(".ts")) return new URL("./writer-thread.js", import.meta.url);
  return new URL("../../../dist/bundle/writer-thread.js", import.meta.url);
}
