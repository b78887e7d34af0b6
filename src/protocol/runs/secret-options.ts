import { MASK } from "../events.ts";
import { own } from "../own.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Schemas may refer to themselves; no value that is given goes deeper than this. */
const DEEPEST = 32;
const ALTERNATIVES = ["allOf", "anyOf", "oneOf"] as const;

/** Members that name a credential: their values are secret whatever they look like. */
const CREDENTIALS: ReadonlySet<string> = new Set(["credentialRef", "credentialsRef"]);

/** The value itself where it names no credential. */
export function withoutCredentials(value: unknown): unknown {
  return withMembers(value, (name, one) => (isCredential(name, one) ? MASK : withoutCredentials(one)));
}

function isCredential(name: string, value: unknown): boolean {
  return CREDENTIALS.has(name) && typeof value === "string";
}

/**
 * The value with a mask where its JSON Schema declares a secret, in the two ways that JSON Schema has for it: `writeOnly: true` and
 * `format: "password"`. The value itself where it declares none.
 */
export function withoutDeclared<T>(value: T, schema: unknown): T {
  return isSchema(schema) ? (cleaned(value, [schema], schema, 0) as T) : value;
}

function cleaned(value: unknown, schemas: readonly Schema[], root: Schema, depth: number): unknown {
  if (depth > DEEPEST) return value;
  const all = expanded(schemas, root);
  if (all.some(isSecret)) return MASK;
  return withMembers(value, (name, one) => {
    const about = all.flatMap((schema) => schemasOf(schema, name, Array.isArray(value)));
    return about.length === 0 ? one : cleaned(one, about, root, depth + 1);
  });
}

function isSecret(schema: Schema): boolean {
  return schema["writeOnly"] === true || schema["format"] === "password";
}

/** Schemas with those that they refer to and combine, each once. */
function expanded(schemas: readonly Schema[], root: Schema): readonly Schema[] {
  const found = new Set(schemas);
  // Values that are added to the set during the loop are visited too.
  for (const schema of found) {
    const parts = ALTERNATIVES.flatMap((name) => listOf(schema[name]));
    const more = [...parts, referred(schema["$ref"], root), schema["then"], schema["else"]];
    for (const one of more.filter(isSchema)) found.add(one);
  }
  return [...found];
}

function schemasOf(schema: Schema, name: string, isItem: boolean): readonly Schema[] {
  if (isItem) return [listOf(schema["prefixItems"])[Number(name)], schema["items"]].filter(isSchema);
  const { properties, patternProperties, additionalProperties } = schema;
  const named = isSchema(properties) ? own(properties, name) : undefined;
  if (named !== undefined) return [named].filter(isSchema);
  // Patterns are not tried: rather one value too many is kept from sight.
  return [additionalProperties, ...Object.values(isSchema(patternProperties) ? patternProperties : {})].filter(
    isSchema,
  );
}

/** Within the schema; there is no other place to refer to. */
function referred(ref: unknown, root: Schema): unknown {
  if (typeof ref !== "string" || !ref.startsWith("#")) return undefined;
  let found: unknown = root;
  for (const step of ref.slice(1).split("/").slice(1)) {
    if (typeof found !== "object" || found === null) return undefined;
    found = own(found as Schema, step.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return found;
}

/** The value with its members changed; itself where none is. */
export function withMembers(value: unknown, change: (name: string, member: unknown) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const members = value as Readonly<Record<string, unknown>>;
  const clean: unknown[] = [];
  let same = true;
  for (const name in members) {
    const one = change(name, members[name]);
    same &&= Object.is(one, members[name]);
    clean.push(one);
  }
  if (same) return value;
  return Array.isArray(value) ? clean : Object.fromEntries(Object.keys(members).map((name, i) => [name, clean[i]]));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
