import type { ValidateFunction } from "ajv/dist/2020.js";
import { AppError } from "../../protocol/errors.ts";
import type { Problem } from "../../protocol/schema.ts";
import { bounded, newAjv } from "./bounded-ajv.ts";
import { TooCostly } from "./too-costly.ts";

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
      : [{ path: "", problem: "does not match: its schema refers to itself without end, or asks for too much work" }];
  };
}

/** Compiling takes milliseconds, and the gates of a workflow bring the same schema with every answer. */
const KEPT_MAX = 100;
const kept = new Map<string, ValidateFunction>();

function compiled(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const text = JSON.stringify(schema);
  const validate = kept.get(text) ?? compiledAnew(schema);
  // The one that was used last goes to the end; the first is the one to let go.
  kept.delete(text);
  kept.set(text, validate);
  if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value ?? "");
  return validate;
}

/** One that answers with a promise would be taken to match whatever it says, and nobody would hear it fail. */
function compiledAnew(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const validate = bounded(() => newAjv().compile(schema));
  if ("$async" in validate) throw new Error("$async is no part of JSON Schema");
  return validate;
}

/** A schema that refers to itself without going into the value never comes to an end; nothing matches it. */
function holds(validate: ValidateFunction, value: unknown): boolean {
  try {
    return bounded(() => validate(value) === true);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TooCostly)) throw error;
    validate.errors = [];
    return false;
  }
}

function unexpected(params: Record<string, unknown>): string {
  const name = params["additionalProperty"];
  return typeof name === "string" ? ` (${name})` : "";
}
