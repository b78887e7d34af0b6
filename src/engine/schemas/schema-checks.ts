import { Worker } from "node:worker_threads";
import { AppError } from "../../protocol/errors.ts";
import type { Problem } from "../../protocol/schema.ts";
import { isTurnSpent, ownTurn } from "../worker/pauses.ts";
import { CheckElsewhere, Deferral, deferring, REQUEST_LIMITS, TURN_LIMITS } from "./decide/schema-deferral.ts";
import type { SchemaObject } from "./decide/schema-document.ts";

/**
 * Makes a decision that checks values against JSON Schemas of others. Long checks are made in a thread, and the decision is made again with their
 * results; short ones are made at once. Throws `schema_check_timeout`.
 */
export function checked<T>(decide: () => T, thread: SchemaThread = shared): Promise<T> {
  const deferral = new Deferral(REQUEST_LIMITS);
  return withResults(deferral, () => deferring(deferral, decide), thread);
}

/** The same for a turn of a run, which settles any number of nodes: it pauses between its steps once it has blocked the thread for some time. */
export function checkedTurn<T>(begin: () => Iterator<void, T>): Promise<T> {
  return checkedInPieces(async (pieces) => {
    const steps = begin();
    const advance = () => {
      let next = steps.next();
      while (!next.done && !pieces.needPause) next = steps.next();
      return next;
    };
    for (;;) {
      const next = pieces.take(advance);
      if (next.done) return next.value;
      await pieces.pause();
    }
  });
}

/** The time between two pauses of a decision: nodes without checks take time too. */
const MS_BETWEEN_PAUSES = 20;

/** The pieces of a decision that pauses between them. */
export interface Pieces {
  /** Decides one piece, without a pause in it. */
  take<R>(decide: () => R): R;
  readonly needPause: boolean;
  pause(): Promise<void>;
}

/** The same for a decision that pauses between its pieces. It starts again with each result of a long check. */
export async function checkedInPieces<T>(decide: (pieces: Pieces) => Promise<T>): Promise<T> {
  const deferral = new Deferral(TURN_LIMITS);
  if (isTurnSpent()) await ownTurn();
  let pausedAtMs = performance.now();
  const pieces: Pieces = {
    take: (piece) => deferring(deferral, piece),
    get needPause() {
      return deferral.needsPause || performance.now() - pausedAtMs >= MS_BETWEEN_PAUSES;
    },
    pause: async () => {
      await ownTurn();
      deferral.paused();
      pausedAtMs = performance.now();
    },
  };
  return withResults(deferral, () => decide(pieces), shared);
}

async function withResults<T>(deferral: Deferral, decide: () => T | Promise<T>, thread: SchemaThread): Promise<T> {
  for (;;) {
    try {
      return await decide();
    } catch (error) {
      if (!(error instanceof CheckElsewhere)) throw error;
      deferral.bring(error, await thread.check(error.schema, error.value));
    }
  }
}

interface SchemaThreadOptions {
  readonly script: URL;
  /** The time after which the thread is ended and the check refused. Budgets end checks long before, unless the machine is very busy. */
  readonly deadlineMs: number;
  readonly waitingMax: number;
}

interface Waiting {
  readonly schema: SchemaObject;
  readonly value: unknown;
  readonly resolve: (problems: readonly Problem[]) => void;
  readonly reject: (error: Error) => void;
}

/** A thread for long checks, one after another. It is started with the first check, and again after it was ended. */
export class SchemaThread {
  readonly #options: SchemaThreadOptions;
  readonly #waiting: Waiting[] = [];
  #worker: Worker | undefined;
  #current: Waiting | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(options: SchemaThreadOptions) {
    this.#options = options;
  }

  check(schema: SchemaObject, value: unknown): Promise<readonly Problem[]> {
    if (this.#waiting.length >= this.#options.waitingMax) throw new AppError("schema_check_timeout");
    return new Promise((resolve, reject) => {
      this.#waiting.push({ schema, value, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#worker?.unref();
      return;
    }
    this.#current = next;
    const worker = this.#worker ?? this.#start();
    // The thread keeps the process alive only while it has a check.
    worker.ref();
    this.#deadline = setTimeout(() => this.#end(worker, "deadline"), this.#options.deadlineMs);
    worker.postMessage({ schema: next.schema, value: next.value });
  }

  #start(): Worker {
    // Without the flags of this process: test runners start Node with loaders.
    const worker = new Worker(this.#options.script, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 256 } });
    this.#worker = worker;
    worker.on("message", (problems: readonly Problem[]) => {
      if (this.#worker === worker) this.#settle(({ resolve }) => resolve(problems));
    });
    worker.on("error", (error) => this.#end(worker, error));
    worker.on("exit", (code) => this.#end(worker, new Error(`exit code ${code}`)));
    return worker;
  }

  #end(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    this.#settle(({ reject }) => reject(new AppError("schema_check_timeout", {}, { cause })));
  }

  #settle(finish: (check: Waiting) => void): void {
    clearTimeout(this.#deadline);
    const check = this.#current;
    this.#current = undefined;
    if (check !== undefined) finish(check);
    this.#next();
  }
}

/** Node 20 cannot run TypeScript, and a thread does not inherit the test runner's loader: from source the thread runs the bundle. */
const script = import.meta.url.endsWith(".ts")
  ? new URL("../../../dist/bundle/schema-thread.js", import.meta.url)
  : new URL("./schema-thread.js", import.meta.url);

const shared = new SchemaThread({ script, deadlineMs: 15_000, waitingMax: 100 });
