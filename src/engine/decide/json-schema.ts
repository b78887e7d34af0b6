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
    validate = compiled(schema);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new AppError("validation_error", { problem: `${where} is not a usable JSON Schema: ${problem}` });
  }
  return (value) => {
    if (holds(validate, value)) return [];
    const problems = (validate.errors ?? []).slice(0, 10).map((error) => ({
      path: error.instancePath,
      problem: `${error.message ?? "does not match"}${unexpected(error.params)}`,
    }));
    return problems.length > 0
      ? problems
      : [{ path: "", problem: "does not match: its schema refers to itself without end" }];
  };
}

/** Compiling takes milliseconds, and the gates of a workflow bring the same schema with every answer. */
const KEPT_MAX = 100;
const kept = new Map<string, ValidateFunction>();

function compiled(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const text = JSON.stringify(schema);
  const validate = kept.get(text) ?? newAjv().compile(schema);
  // The one that was used last goes to the end; the first is the one to let go.
  kept.delete(text);
  kept.set(text, validate);
  if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value ?? "");
  return validate;
}

/** A schema that refers to itself without going into the value never comes to an end; nothing matches it. */
function holds(validate: ValidateFunction, value: unknown): boolean {
  try {
    return validate(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    validate.errors = [];
    return false;
  }
}

function unexpected(params: Record<string, unknown>): string {
  const name = params["additionalProperty"];
  return typeof name === "string" ? ` (${name})` : "";
}

/** One instance per schema: author-chosen `$id`s must not meet each other. */
function newAjv(): Ajv2020 {
  // Ajv keeps one pattern per text, so each has to say its own; otherwise all of them would be the first.
  const pattern = (source: string) => ({ test: compilePattern(source), toString: () => source });
  const regExp = Object.assign(pattern, { code: "compilePattern" });
  return new Ajv2020({
    strict: false,
    allErrors: false,
    validateFormats: false,
    // The author's patterns run in linear time, see pattern.ts.
    code: { regExp: regExp as never },
    logger: false,
  });
}
