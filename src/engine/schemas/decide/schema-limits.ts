import { AppError } from "../../../protocol/errors.ts";
import { compileExcess } from "../../workflows/decide/definition-limits.ts";
import { type CompiledSchema, compileSchema } from "./json-schema.ts";
import type { SchemaObject } from "./schema-document.ts";

/** Limits of a schema at registration. Schemas that were registered before there were limits stay usable. */
export const SCHEMA_LIMITS = {
  /** Characters of its JSON text. */
  characters: 262_144,
  /** Values in it: keywords, names in lists, members of enumerations. */
  values: 50_000,
  /** Objects and lists within each other. */
  depth: 64,
  /** `pattern` and `patternProperties`. */
  patterns: 200,
} as const;

/** Limits of all schemas of one pack together: they are compiled when the pack is installed, and when a host starts. */
const PACK_SCHEMA_LIMITS = { characters: 1_048_576, values: 200_000, patterns: 800 } as const;

/** Adds up the schemas of a pack. */
export class SchemaTotal {
  #characters = 0;
  #values = 0;
  #patterns = 0;

  /** The excess with this schema, if any. */
  add(schema: SchemaObject): string | undefined {
    const found = { values: 0, depth: 0, patterns: 0 };
    measure(schema, 1, found);
    this.#characters += JSON.stringify(schema).length;
    this.#values += found.values;
    this.#patterns += found.patterns;
    const { characters, values, patterns } = PACK_SCHEMA_LIMITS;
    const exceeds = (limit: string) => `the schemas of the pack have more than ${limit} together`;
    if (this.#characters > characters) return exceeds(`${characters} characters`);
    if (this.#values > values) return exceeds(`${values} values`);
    return this.#patterns > patterns ? exceeds(`${patterns} patterns`) : undefined;
  }
}

/** Compiles a schema within the limits. Throws `schema_too_large`, and `validation_error` where it is no schema. */
export function registeredSchema(schema: SchemaObject, where: string): CompiledSchema {
  const problem = excessOf(schema);
  if (problem !== undefined) throw new AppError("schema_too_large", { where, problem });
  return compileSchema(schema, where);
}

function excessOf(schema: SchemaObject): string | undefined {
  const found = { values: 0, depth: 0, patterns: 0 };
  measure(schema, 1, found);
  const { characters, values, depth, patterns } = SCHEMA_LIMITS;
  if (found.depth > depth) return `it is nested more than ${depth} levels deep`;
  if (found.values > values) return `it has more than ${values} values`;
  if (found.patterns > patterns) return `it has more than ${patterns} patterns`;
  const { length } = JSON.stringify(schema);
  return length > characters ? `it has ${length} characters, and may have ${characters}` : compileExcess(schema);
}

function measure(value: unknown, depth: number, found: { values: number; depth: number; patterns: number }): void {
  found.values += 1;
  if (typeof value !== "object" || value === null) return;
  found.depth = Math.max(found.depth, depth);
  if (depth > SCHEMA_LIMITS.depth || found.values > SCHEMA_LIMITS.values) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === "pattern") found.patterns += 1;
    if (name === "patternProperties") found.patterns += Object.keys(Object(member)).length;
    measure(member, depth + 1, found);
  }
}
