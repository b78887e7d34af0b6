import { parentPort, workerData } from "node:worker_threads";
import { BatchCommitter } from "./commit-batch.ts";
import { openForWriting } from "./open-database.ts";
import type { Operation } from "./operations.ts";

/**
 * The thread that owns the only write connection: fsync and B-tree work happen here and never hold up a request that
 * only reads. Its messages: a batch of operations, answered by their outcomes; `null` ends it.
 */
const port = parentPort;
if (port === null) throw new Error("writer-thread.ts runs as a worker thread only");

const db = await openForWriting(workerData as string);
const committer = new BatchCommitter(db);

port.on("message", (operations: readonly Operation[] | null) => {
  if (operations !== null) return port.postMessage(committer.commit(operations));
  db.close();
  port.close();
});
port.postMessage("ready");
