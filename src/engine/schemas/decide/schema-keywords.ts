import { isObject } from "../../../protocol/own.ts";
/** Keywords of JSON Schema 2020-12 with one schema as value. Keywords in none of these lists do not restrict values. */
export const ONE_SCHEMA: ReadonlySet<string> = new Set([
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

/** Keywords with a list of schemas. */
export const SCHEMA_LIST: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);

/** Keywords with schemas by name. */
export const SCHEMA_MAP: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];

type Form = (value: unknown) => string | undefined;

const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === "string";

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
}

const count: Form = (value) => (isCount(value) ? undefined : "must be a whole number, 0 or more");
const number: Form = (value) => (typeof value === "number" ? undefined : "must be a number");
const text: Form = (value) => (isText(value) ? undefined : "must be a string");
const flag: Form = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
const names: Form = (value) => (isNames(value) ? undefined : "must be a list of different strings");
const list: Form = (value) => (Array.isArray(value) ? undefined : "must be a list");

function type(value: unknown): string | undefined {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  const known = given.length > 0 && given.every((one) => TYPES.includes(one as string));
  return known && new Set(given).size === given.length ? undefined : `must be one or more of ${TYPES.join(", ")}`;
}

function nonEmpty(value: unknown): string | undefined {
  return Array.isArray(value) && value.length > 0 ? undefined : "must be a list with at least one value";
}

function namesByName(value: unknown): string | undefined {
  const fits = isObject(value) && Object.values(value).every(isNames);
  return fits ? undefined : "must be an object with a list of different strings for each name";
}

function positive(value: unknown): string | undefined {
  return typeof value === "number" && value > 0 ? undefined : "must be a number above 0";
}

function anchor(value: unknown): string | undefined {
  return isText(value) && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value as string) ? undefined : "must be a name";
}

/** Checks of the values of keywords; each returns the problem, if any. */
export const FORMS: Readonly<Record<string, Form>> = {
  $anchor: anchor,
  $comment: text,
  $dynamicAnchor: anchor,
  $dynamicRef: text,
  $id: text,
  $ref: text,
  $schema: text,
  dependentRequired: namesByName,
  deprecated: flag,
  description: text,
  enum: nonEmpty,
  examples: list,
  exclusiveMaximum: number,
  exclusiveMinimum: number,
  format: text,
  maxContains: count,
  maximum: number,
  maxItems: count,
  maxLength: count,
  maxProperties: count,
  minContains: count,
  minimum: number,
  minItems: count,
  minLength: count,
  minProperties: count,
  multipleOf: positive,
  pattern: text,
  readOnly: flag,
  required: names,
  title: text,
  type,
  uniqueItems: flag,
  writeOnly: flag,
};
