import type { JsonSchemaValidatorResult, jsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js";
import { checkHere } from "../../engine/schemas/decide/json-schema.ts";
import { AppError } from "../../protocol/errors.ts";

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
