import { Worker } from "node:worker_threads";
import { AppError, type ErrorCode, type ErrorDetails } from "../../protocol/errors.ts";
import type { TurnTaken } from "../provider/take-turn.ts";
import type { ReviewerBinding } from "../reviewers/bound-reviewer.ts";
import type { HostTurn } from "./host-turn.ts";
import type { ReviewStore, StoreBackendSettings } from "./store-backend.ts";

/** The start data of a thread that takes turns. */
export interface TurnThreadData {
  readonly reviewers: readonly ReviewerBinding[];
  readonly backend: Partial<StoreBackendSettings>;
  readonly reviewLimitMs: number;
}

export type ToTurnThread =
  /** `secrets`: those known to this process at the time. */
  | { readonly type: "turn"; readonly id: number; readonly turn: HostTurn; readonly secrets: readonly string[] }
  /** The answer to a call of the store. */
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer<unknown> }
  | { readonly type: "stop" };

export type FromTurnThread =
  | {
      readonly type: "call";
      readonly id: number;
      readonly method: keyof ReviewStore;
      readonly args: readonly unknown[];
    }
  | { readonly type: "failure"; readonly id: number; readonly error: ErrorMessage }
  | { readonly type: "taken"; readonly id: number; readonly answer: Answer<TurnTaken> };

export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ErrorMessage };

/** An error as it travels between threads, which would otherwise lose what it is. */
export interface ErrorMessage {
  readonly message: string;
  readonly code?: ErrorCode;
  readonly details?: ErrorDetails;
}

export async function answerOf<T>(work: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: errorMessage(error) };
  }
}

export function resultOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw errorOf(answer.error);
}

export function errorMessage(error: unknown): ErrorMessage {
  if (error instanceof AppError) return { message: error.message, code: error.code, details: error.details };
  return { message: error instanceof Error ? error.message : String(error) };
}

function errorOf({ message, code, details = {} }: ErrorMessage): Error {
  return code === undefined ? new Error(message) : new AppError(code, details);
}

export interface TurnsApartOptions extends TurnThreadData {
  readonly script: URL;
  readonly store: ReviewStore;
  readonly secrets: () => readonly string[];
  /** When aborted, turns that are under way are given up. */
  readonly signal: AbortSignal;
  /** Requests of so many bytes are taken apart. Shorter ones are done sooner than they are handed over and back. */
  readonly fromBytes?: number;
}

const APART_FROM_BYTES = 32 * 1024;

interface Taking {
  readonly resolve: (taken: TurnTaken) => void;
  readonly reject: (error: unknown) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Takes turns in a thread of their own, which is started with the first of them. When it dies, those it had fail and the next starts another. */
export class TurnsApart {
  readonly #options: TurnsApartOptions;
  readonly #taking = new Map<number, Taking>();
  #worker: Worker | undefined;
  #last = 0;

  constructor(options: TurnsApartOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", () => this.#tell({ type: "stop" }), { once: true });
  }

  isFor(bytes: Uint8Array): boolean {
    return bytes.length >= (this.#options.fromBytes ?? APART_FROM_BYTES);
  }

  take(turn: HostTurn, onFailure: Taking["onFailure"]): Promise<TurnTaken> {
    const id = ++this.#last;
    this.#worker ??= this.#start();
    this.#tell({ type: "turn", id, turn, secrets: this.#options.secrets() });
    return new Promise((resolve, reject) => this.#taking.set(id, { resolve, reject, onFailure }));
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const { script, reviewers, backend, reviewLimitMs } = this.#options;
    const workerData: TurnThreadData = { reviewers, backend, reviewLimitMs };
    // No flags of ours: test runners start Node with loaders that the thread has no use for.
    const worker = new Worker(script, { workerData, execArgv: [] });
    let cause: unknown;
    worker.on("message", (message: FromTurnThread) => void this.#hear(message));
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", (code) => this.#lose(worker, cause ?? new Error(`exit code ${code}`)));
    return worker;
  }

  async #hear(message: FromTurnThread): Promise<void> {
    if (message.type === "failure") return this.#taking.get(message.id)?.onFailure(errorOf(message.error));
    if (message.type === "taken") {
      const { id, answer } = message;
      if (answer.ok) this.#taking.get(id)?.resolve(answer.value);
      else this.#taking.get(id)?.reject(errorOf(answer.error));
      return void this.#taking.delete(id);
    }
    const { id, method, args } = message;
    const call = this.#options.store[method] as (...args: readonly unknown[]) => Promise<unknown>;
    this.#tell({ type: "answer", id, answer: await answerOf(() => call(...args)) });
  }

  #lose(worker: Worker, cause: unknown): void {
    if (this.#worker === worker) this.#worker = undefined;
    const error = new AppError("unavailable", { reason: "The thread that reviews ended" }, { cause });
    for (const { reject } of this.#taking.values()) reject(error);
    this.#taking.clear();
  }

  #tell(message: ToTurnThread): void {
    this.#worker?.postMessage(message);
  }
}
