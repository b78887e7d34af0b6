import { Worker } from "node:worker_threads";

export interface ScrubTask {
  readonly id: number;
  readonly text: string;
  /** Known secret values, of any form. */
  readonly known: readonly string[];
}

export interface ScrubAnswer {
  readonly id: number;
  readonly clean: string;
}

interface Waiting {
  readonly resolve: (clean: string) => void;
  readonly reject: (error: unknown) => void;
}

/** Scrubs long texts in a thread, which is started with the first of them. Where it dies, its texts are rejected, and the next text starts another. */
export class LongScrubs {
  readonly #script: URL;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #last = 0;

  constructor(script: URL = SCRIPT) {
    this.#script = script;
  }

  scrub(text: string, known: readonly string[]): Promise<string> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker ??= this.#start();
      // The thread keeps the process alive only while it has texts.
      this.#worker.ref();
      this.#worker.postMessage({ id, text, known } satisfies ScrubTask);
    });
  }

  #start(): Worker {
    // Without the flags of this process: test runners start Node with loaders.
    const worker = new Worker(this.#script, { execArgv: [] });
    let cause: unknown;
    worker.on("message", ({ id, clean }: ScrubAnswer) => {
      this.#waiting.get(id)?.resolve(clean);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
    });
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", (code) => this.#lose(worker, cause ?? new Error(`exit code ${code}`)));
    return worker;
  }

  #lose(worker: Worker, cause: unknown): void {
    if (this.#worker === worker) this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(cause);
    this.#waiting.clear();
  }
}

/** Node 20 cannot run TypeScript, and a thread does not inherit the test runner's loader: from source the thread runs the bundle. */
const SCRIPT = import.meta.url.endsWith(".ts")
  ? new URL("../../../dist/bundle/scrub-thread.js", import.meta.url)
  : new URL("./scrub-thread.js", import.meta.url);
