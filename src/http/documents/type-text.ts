import type { JsonSchema } from "./named-schemas.ts";

interface Parts {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

const PLAIN: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

/** A JSON Schema, of the keywords that our schemas use, as a type of TypeScript. Bounds and patterns are left to the server. */
export function typeText(schema: JsonSchema, indent = ""): string {
  const { $ref, const: value, enum: values, anyOf, type = "", items, properties, patternProperties } = schema as Parts;
  if ($ref !== undefined) return $ref.split("/").at(-1) ?? "";
  if (value !== undefined) return JSON.stringify(value);
  if (values !== undefined) return values.map((one) => JSON.stringify(one)).join(" | ");
  if (anyOf !== undefined) return anyOf.map((one) => typeText(one, indent)).join(" | ") || "never";
  if (items !== undefined) return isUnion(items) ? `(${typeText(items, indent)})[]` : `${typeText(items, indent)}[]`;
  if (properties !== undefined) return objectText(schema as Parts, indent);
  const [record] = Object.values(patternProperties ?? {});
  if (record !== undefined) return `{ [name: string]: ${typeText(record, indent)} }`;
  return PLAIN[type] ?? (type === "array" ? "unknown[]" : type === "object" ? "object" : "unknown");
}

function isUnion({ enum: values, anyOf }: Parts): boolean {
  return values !== undefined || anyOf !== undefined;
}

function objectText({ properties = {}, required = [] }: Parts, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const { description } = schema as Parts;
    const comment = description === undefined ? "" : `${inner}/** ${description.replaceAll("*/", "* /")} */\n`;
    const key = /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name);
    return `${comment}${inner}${key}${required.includes(name) ? "" : "?"}: ${typeText(schema, inner)};\n`;
  });
  return members.length === 0 ? "Record<never, never>" : `{\n${members.join("")}${indent}}`;
}
