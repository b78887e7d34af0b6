import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { AppError } from "../../protocol/errors.ts";
import { BatchCommitter } from "./commit-batch.ts";
import { explain } from "./database-error.ts";
import type { SqliteDatabase } from "./open-database.ts";
import { splitWrites, toMessage } from "./operation-message.ts";
import type { Outcome } from "./operations.ts";
import type { WriteConnection } from "./writer.ts";

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
