import { APICallError, JSONParseError, TypeValidationError } from "ai";
import { parsedJson } from "../../formats/json/check-json.ts";
import type { AgentFailureCode } from "../binding.ts";
import type { Carried } from "./bounded-fetch.ts";
import type { ModelSettings } from "./model-settings.ts";

/** Why a turn came to nothing, in words that hold neither a key nor anything of what was sent or came back. */
export interface ModelProblem {
  readonly code: AgentFailureCode;
  readonly message: string;
  /** Whether another attempt may go better. */
  readonly again: boolean;
  readonly retryAfter?: string | undefined;
  /** The server did not take what was asked for; it may take less. */
  readonly isRefusedRequest?: boolean;
}

export function problem(code: AgentFailureCode, message: string, again = false): ModelProblem {
  return { code, message, again };
}

export function tooLarge(maxOutputBytes: number): ModelProblem {
  return problem("agent_output_too_large", `its answer is larger than ${maxOutputBytes} bytes`);
}

export function tooSlow(timeoutMs: number): ModelProblem {
  return problem("agent_timeout", `no answer within ${timeoutMs} ms`, true);
}

export const BROKE_OFF = problem("agent_unreachable", "its answer broke off", true);
export const NO_STREAM = problem("agent_output_invalid", "what it answered is not a stream of a completion");

/** Maps an error of the AI SDK to a problem. */
export function problemFrom(error: unknown, carried: Carried, { key, maxOutputBytes }: ModelSettings): ModelProblem {
  if (carried.tooLarge) return tooLarge(maxOutputBytes);
  if (carried.answer === "other") return NO_STREAM;
  if (APICallError.isInstance(error)) {
    const { statusCode } = error;
    if (statusCode === undefined) return unreachable(error.cause ?? error);
    // With a success status the beginning of the answer could not be read.
    return statusCode < 300 ? problemIn(error.cause) : refusedBy(error, statusCode, key);
  }
  if (carried.answer === "none") return unreachable(error);
  return problemIn(error);
}

/** Problems of a stream: an invalid one, a lost connection, or an error of the server. */
function problemIn(error: unknown): ModelProblem {
  if (TypeValidationError.isInstance(error)) {
    const place = placeIn(error.cause);
    return place === "" ? NO_STREAM : { ...NO_STREAM, message: `${NO_STREAM.message}: ${place} is missing or wrong` };
  }
  return JSONParseError.isInstance(error) ? NO_STREAM : BROKE_OFF;
}

interface Mismatch {
  readonly path?: readonly unknown[];
  /** The mismatches for each of the possible shapes. */
  readonly errors?: readonly (readonly Mismatch[])[];
}

/** The path of the invalid member, such as `usage.output_tokens`, without its value. */
function placeIn(cause: unknown): string {
  const names: unknown[] = [];
  let [found] = (cause as { issues?: readonly Mismatch[] } | null)?.issues ?? [];
  while (found !== undefined) {
    names.push(...(found.path ?? []));
    found = found.errors?.[0]?.[0];
  }
  return names.every((name) => /^([a-z_]{1,40}|\d{1,6})$/.test(String(name))) ? names.join(".") : "";
}

function refusedBy(error: APICallError, status: number, key: string | undefined): ModelProblem {
  const message = `it answered ${status}${reasonIn(error.responseBody, key)}`;
  const retryAfter = error.responseHeaders?.["retry-after"];
  if (status === 429) return { ...problem("agent_rate_limited", message, true), retryAfter };
  if (status === 408 || status >= 500) return { ...problem("agent_unreachable", message, true), retryAfter };
  return { ...problem("agent_error", message), isRefusedRequest: status === 400 || status === 422 };
}

/** A word like `model_not_found`. Nothing longer: messages of model servers repeat keys and what was sent. */
function reasonIn(body: string | undefined, key: string | undefined): string {
  const { error } = (parsedJson(body ?? "") ?? {}) as { error?: unknown };
  const { code, type } = (error ?? {}) as { code?: unknown; type?: unknown };
  const word = [code, type].find((one): one is string => typeof one === "string" && /^[a-z_]{3,40}$/.test(one));
  return word === undefined || word === key ? "" : ` (${word})`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name does not resolve",
  EAI_AGAIN: "the host name does not resolve at the moment",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed without an answer",
  UND_ERR_SOCKET: "the connection was closed without an answer",
  UND_ERR_HEADERS_TIMEOUT: "it did not begin to answer",
};

function unreachable(error: unknown): ModelProblem {
  const why = REASONS[codeOf(error)] ?? "the call failed";
  return problem("agent_unreachable", `it cannot be reached: ${why}`, true);
}

/** The code of the innermost error that has one: the outer ones are generic. */
function codeOf(error: unknown): string {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  if (cause !== undefined && cause !== null) return codeOf(cause);
  if (typeof code === "string") return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "";
}
