import type { JsonSchemaValidatorResult, jsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js";
import { checkHere } from "../../engine/schemas/decide/json-schema.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ToolResult } from "../tool-surface.ts";

/** The result of a tool: a value where there is one, its text where it has only text, otherwise its parts. */
export function resultOf(given: unknown, maxBytes: number): ToolResult {
  const { content = [], structuredContent, isError } = given as Given;
  const texts = content.map((part) => (part.type === "text" ? part.text : undefined));
  const isText = texts.every((text) => text !== undefined);
  const outcome = structuredContent ?? (isText ? texts.join("\n") : content);
  const bytes = Buffer.byteLength(JSON.stringify(outcome) ?? "null");
  if (bytes > maxBytes)
    return { status: "error", error: `its result has ${bytes} bytes; at most ${maxBytes} are taken` };
  if (isError !== true) return { status: "ok", outcome };
  const reason = texts.filter((text) => text !== undefined).join("\n");
  return { status: "error", error: reason === "" ? "the tool failed and gave no reason" : reason };
}

/**
 * The kind of a result, in place of the library's own check. That one describes every wrong part of a result, for each kind of part that
 * there is; here the first one is enough.
 */
export const ANY_RESULT = {
  safeParse(given: unknown) {
    return isResult(given)
      ? { success: true, data: given }
      : { success: false, error: new Error("its result is none") };
  },
};

function isResult(given: unknown): given is Given {
  if (typeof given !== "object" || given === null) return false;
  const { content = [] } = given as Readonly<Record<string, unknown>>;
  return Array.isArray(content) && content.every(isPart);
}

function isPart(given: unknown): boolean {
  const { type, text } = (given ?? {}) as Readonly<Record<string, unknown>>;
  return typeof type === "string" && (type !== "text" || typeof text === "string");
}

interface Given {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/**
 * Checks what tools of MCP servers give back against the schemas that the servers offer. The library's own validator compiles them to code,
 * without a bound; a check here is bounded, and what cannot be checked is refused.
 */
export const toolResults: jsonSchemaValidator = {
  getValidator<T>(offered: object) {
    // Servers name drafts that differ from ours in what hardly any of them uses.
    const { $schema, ...schema } = offered as Readonly<Record<string, unknown>>;
    return (input: unknown): JsonSchemaValidatorResult<T> => {
      const problem = problemOf(schema, input);
      return problem === undefined
        ? { valid: true, data: input as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: problem };
    };
  },
};

function problemOf(schema: Readonly<Record<string, unknown>>, input: unknown): string | undefined {
  try {
    const [first] = checkHere(schema, "the schema of the result", input);
    return first === undefined ? undefined : `${first.path} ${first.problem}`;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.message;
  }
}
