import { statSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { BatchCommitter } from "./commit-batch.ts";
import { openForWriting } from "./open-database.ts";
import {
  fromMessage,
  joinWrites,
  type Operation,
  type OperationMessage,
  type Outcome,
  type WritesAhead,
} from "./operations.ts";

/**
 * The thread that owns the only write connection: fsync and B-tree work happen here and never hold up a request that
 * only reads. Its messages: writes of the next batch, sent ahead; a batch of operations, answered by their outcomes; `null` ends it.
 */
const port = parentPort;
if (port === null) throw new Error("writer-thread.ts runs as a worker thread only");

const path = workerData as string;
const db = await openForWriting(path);
const isInPlace = sameFile(path);
const committer = new BatchCommitter(db);

function commit(operations: readonly Operation[]): Outcome[] {
  if (isInPlace()) return committer.commit(operations);
  const message = "The database file was removed or replaced; stop this process before you do that";
  return operations.map(() => ({ kind: "failed", databaseError: true, message }));
}

/** The connection that reads is closed after this one, and would leave a log with all that was deleted since. */
function emptyLog(): void {
  try {
    db.exec("pragma wal_checkpoint(truncate)");
  } catch {
    // The disk is full or gone: the next process that opens the file finds the log, and nothing is lost.
  }
}

/**
 * Checks whether `path` still names the file it names now. Writes to a database file that was removed or replaced succeed
 * and are lost with the process.
 */
function sameFile(path: string): () => boolean {
  const opened = statSync(path);
  return () => {
    const now = statSync(path, { throwIfNoEntry: false });
    return now?.ino === opened.ino && now.dev === opened.dev;
  };
}

let ahead: WritesAhead[] = [];

port.on("message", (message: WritesAhead | readonly OperationMessage[] | null) => {
  if (message !== null && "index" in message) return void ahead.push(message);
  if (message !== null) {
    const operations = joinWrites(message.map(fromMessage), ahead);
    ahead = [];
    return port.postMessage(commit(operations));
  }
  emptyLog();
  db.close();
  port.close();
});
port.postMessage("ready");
