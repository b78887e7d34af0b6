import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { AppError } from "../../protocol/errors.ts";
import type { Problem } from "../../protocol/schema.ts";
import { compilePattern } from "./pattern.ts";

/** Schemas in workflow definitions: `configurableSchema`, channel schemas. Formats are annotations, as 2020-12 says. */
export type CompiledSchema = (value: unknown) => Problem[];

/** Throws `validation_error` when the schema itself is not valid or refers to something outside itself. */
export function compileSchema(schema: Readonly<Record<string, unknown>>, where: string): CompiledSchema {
  let validate: ValidateFunction;
  try {
    validate = newAjv().compile(schema);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new AppError("validation_error", { problem: `${where} is not a usable JSON Schema: ${problem}` });
  }
  return (value) => {
    if (validate(value)) return [];
    return (validate.errors ?? []).slice(0, 10).map((error) => ({
      path: error.instancePath,
      problem: `${error.message ?? "does not match"}${unexpected(error.params)}`,
    }));
  };
}

function unexpected(params: Record<string, unknown>): string {
  const name = params["additionalProperty"];
  return typeof name === "string" ? ` (${name})` : "";
}

/** One instance per schema: author-chosen `$id`s must not meet each other. */
function newAjv(): Ajv2020 {
  const regExp = Object.assign((source: string) => ({ test: compilePattern(source) }), { code: "compilePattern" });
  return new Ajv2020({
    strict: false,
    allErrors: false,
    validateFormats: false,
    // The author's patterns run in linear time, see pattern.ts.
    code: { regExp: regExp as never },
    logger: false,
  });
}
