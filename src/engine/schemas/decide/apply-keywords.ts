import { isObject, own } from "../../../protocol/own.ts";
import { compilePattern } from "../../workflows/decide/pattern.ts";
import type { Applied } from "./applied.ts";
import {
  additionalProperties,
  applyAllOf,
  applyAnyOf,
  applyDynamicRef,
  applyIf,
  applyNot,
  applyOneOf,
  applyRef,
  contains,
  dependencies,
  dependentRequired,
  items,
  patternProperties,
  prefixItems,
  properties,
  propertyNames,
  required,
  unevaluatedItems,
  unevaluatedProperties,
} from "./apply-schemas.ts";
import { CHARACTERS, jsonKey } from "./deep-equal.ts";
import type { SchemaObject } from "./schema-document.ts";

type Apply<Value, Wanted> = (applied: Applied & { readonly value: Value }, wanted: Wanted) => boolean;
type AnyApply = (applied: Applied, wanted: unknown) => boolean;

interface Keyword {
  readonly apply: AnyApply;
  readonly wanted: unknown;
}

/** The keywords of a schema that restrict values, in the order of their application. */
export function keywordsOf(schema: SchemaObject): readonly Keyword[] {
  const known = KEYWORDS.get(schema);
  if (known !== undefined) return known;
  const found: Keyword[] = [];
  for (const [name, apply] of ORDER) if (Object.hasOwn(schema, name)) found.push({ apply, wanted: schema[name] });
  KEYWORDS.set(schema, found);
  return found;
}

const KEYWORDS = new WeakMap<SchemaObject, readonly Keyword[]>();

function toAll<Wanted>(apply: Apply<unknown, Wanted>): AnyApply {
  return apply as AnyApply;
}

function toNumbers<Wanted>(apply: Apply<number, Wanted>): AnyApply {
  return (applied, wanted) => typeof applied.value !== "number" || (apply as AnyApply)(applied, wanted);
}

function toTexts<Wanted>(apply: Apply<string, Wanted>): AnyApply {
  return (applied, wanted) => typeof applied.value !== "string" || (apply as AnyApply)(applied, wanted);
}

function toItems<Wanted>(apply: Apply<readonly unknown[], Wanted>): AnyApply {
  return (applied, wanted) => !Array.isArray(applied.value) || (apply as AnyApply)(applied, wanted);
}

function toMembers<Wanted>(apply: Apply<Readonly<Record<string, unknown>>, Wanted>): AnyApply {
  return (applied, wanted) => !isObject(applied.value) || (apply as AnyApply)(applied, wanted);
}

function compared(holds: (value: number, limit: number) => boolean, sign: string): AnyApply {
  return toNumbers<number>(
    ({ evaluation, value, at }, limit) => holds(value, limit) || evaluation.fails(at, `must be ${sign} ${limit}`),
  );
}

type Size = (applied: Applied) => number;

const lengthOf: Size = ({ evaluation, value }) => {
  const text = value as string;
  evaluation.budget.charge(text.length >> CHARACTERS);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // The second half of a pair was counted with the first.
    if (unit < 0xdc00 || unit > 0xdfff) length += 1;
  }
  return length;
};

const itemsOf: Size = ({ value }) => (value as readonly unknown[]).length;

const membersOf: Size = ({ evaluation, value }) => {
  const { length } = Object.keys(value as object);
  evaluation.budget.charge(length);
  return length;
};

function atMost(size: Size, what: string): (applied: Applied, limit: number) => boolean {
  return (applied, limit) =>
    size(applied) <= limit || applied.evaluation.fails(applied.at, `must NOT have more than ${limit} ${what}`);
}

function atLeast(size: Size, what: string): (applied: Applied, limit: number) => boolean {
  return (applied, limit) =>
    size(applied) >= limit || applied.evaluation.fails(applied.at, `must NOT have fewer than ${limit} ${what}`);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function type({ evaluation, schema, value, at }: Applied, wanted: string | readonly string[]): boolean {
  if (value === null && own(schema, "nullable") === true) return true;
  const types = typeof wanted === "string" ? [wanted] : wanted;
  return types.some((one) => isOfType(value, one)) || evaluation.fails(at, `must be ${types.join(",")}`);
}

function multipleOf({ evaluation, value, at }: Applied, wanted: number): boolean {
  return Number.isInteger((value as number) / wanted) || evaluation.fails(at, `must be multiple of ${wanted}`);
}

function pattern({ evaluation, value, at }: Applied, source: string): boolean {
  return (
    compilePattern(source)(value as string, evaluation.budget) || evaluation.fails(at, `must match pattern "${source}"`)
  );
}

function enumeration({ evaluation, value, at }: Applied, members: readonly unknown[]): boolean {
  return evaluation.isAmong(members, value) || evaluation.fails(at, "must be equal to one of the allowed values");
}

function constant({ evaluation, value, at }: Applied, wanted: unknown): boolean {
  return evaluation.equals(wanted, value) || evaluation.fails(at, "must be equal to constant");
}

function uniqueItems({ evaluation, value, at }: Applied, wanted: boolean): boolean {
  if (!wanted) return true;
  const given = value as readonly unknown[];
  const different = new Set(given.map((item) => jsonKey(item, evaluation.budget)));
  return different.size === given.length || evaluation.fails(at, "must NOT have duplicate items");
}

/** Cheap keywords come before those that descend into the value. Problems are recorded in this order. */
const ORDER: readonly (readonly [string, AnyApply])[] = [
  ["type", toAll(type)],
  ["maximum", compared((value, limit) => value <= limit, "<=")],
  ["minimum", compared((value, limit) => value >= limit, ">=")],
  ["exclusiveMaximum", compared((value, limit) => value < limit, "<")],
  ["exclusiveMinimum", compared((value, limit) => value > limit, ">")],
  ["multipleOf", toNumbers(multipleOf)],
  ["maxLength", toTexts(atMost(lengthOf, "characters"))],
  ["minLength", toTexts(atLeast(lengthOf, "characters"))],
  ["pattern", toTexts(pattern)],
  ["$dynamicRef", toAll(applyDynamicRef)],
  ["$ref", toAll(applyRef)],
  ["const", toAll(constant)],
  ["enum", toAll(enumeration)],
  ["not", toAll(applyNot)],
  ["anyOf", toAll(applyAnyOf)],
  ["oneOf", toAll(applyOneOf)],
  ["allOf", toAll(applyAllOf)],
  ["if", toAll(applyIf)],
  ["maxItems", toItems(atMost(itemsOf, "items"))],
  ["minItems", toItems(atLeast(itemsOf, "items"))],
  ["uniqueItems", toItems(uniqueItems)],
  ["prefixItems", toItems(prefixItems)],
  ["items", toItems(items)],
  ["contains", toItems(contains)],
  ["unevaluatedItems", toItems(unevaluatedItems)],
  ["maxProperties", toMembers(atMost(membersOf, "properties"))],
  ["minProperties", toMembers(atLeast(membersOf, "properties"))],
  ["required", toMembers(required)],
  ["propertyNames", toMembers(propertyNames)],
  ["additionalProperties", toMembers(additionalProperties)],
  ["dependencies", toMembers(dependencies)],
  ["properties", toMembers(properties)],
  ["patternProperties", toMembers(patternProperties)],
  ["dependentRequired", toMembers(dependentRequired)],
  ["dependentSchemas", toMembers(dependencies)],
  ["unevaluatedProperties", toMembers(unevaluatedProperties)],
];
