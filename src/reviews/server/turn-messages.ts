import { AppError, type ErrorCode, type ErrorDetails } from "../../protocol/errors.ts";
import type { TurnTaken } from "../provider/take-turn.ts";
import type { ReviewerBinding } from "../reviewers/bound-reviewer.ts";
import type { ReviewStore, StoreBackendSettings } from "../store-backend.ts";
import type { HostTurn } from "./host-turn.ts";

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
  /** Why the review of a turn failed. */
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

export function errorOf({ message, code, details = {} }: ErrorMessage): Error {
  return code === undefined ? new Error(message) : new AppError(code, details);
}
