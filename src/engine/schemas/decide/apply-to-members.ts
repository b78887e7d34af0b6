import { own } from "../../../protocol/own.ts";
import { compilePattern } from "../../workflows/decide/pattern.ts";
import type { Applied } from "./applied.ts";
import type { Schema } from "./schema-document.ts";

/** Keywords that apply schemas to the members of an object. */
type Members = Readonly<Record<string, unknown>>;
type OnMembers = Applied & { readonly value: Members };
type Schemas = Readonly<Record<string, Schema>>;

export function required({ evaluation, value, at }: OnMembers, names: readonly string[]): boolean {
  evaluation.budget.charge(names.length);
  const missing = names.find((name) => !Object.hasOwn(value, name));
  return missing === undefined || evaluation.fails(at, `must have required property '${missing}'`);
}

export function properties(applied: OnMembers, schemas: Schemas): boolean {
  const { value } = applied;
  // The shorter side is gone through: a schema may have thousands of members, and a value too.
  const [given, known] = [Object.keys(value), Object.keys(schemas)];
  applied.evaluation.budget.charge(Math.min(given.length, known.length));
  const names =
    given.length < known.length
      ? given.filter((name) => Object.hasOwn(schemas, name))
      : known.filter((name) => Object.hasOwn(value, name));
  return names.every((name) => memberHolds(applied, name, schemas[name] ?? true));
}

function memberHolds({ evaluation, value, at, scope, evaluated }: OnMembers, name: string, schema: Schema): boolean {
  evaluated?.names.add(name);
  return evaluation.holds(schema, value[name], { outer: at, step: name }, scope, evaluation.newEvaluated());
}

export function patternProperties(applied: OnMembers, schemas: Schemas): boolean {
  const { evaluation, value } = applied;
  const names = Object.keys(value);
  return Object.entries(schemas).every(([source, schema]) => {
    const matches = compilePattern(source);
    evaluation.budget.charge(names.length);
    return names.every((name) => !matches(name, evaluation.budget) || memberHolds(applied, name, schema));
  });
}

/** The members that are neither in `properties` nor in `patternProperties`. */
export function additionalProperties(applied: OnMembers, schema: Schema): boolean {
  const { evaluation, schema: whole, value, at } = applied;
  const known = own(whole, "properties") as Schemas | undefined;
  const patterns = Object.keys((own(whole, "patternProperties") as Schemas | undefined) ?? {}).map(compilePattern);
  for (const name of Object.keys(value)) {
    evaluation.budget.charge(1 + patterns.length);
    if (known !== undefined && Object.hasOwn(known, name)) continue;
    if (patterns.some((matches) => matches(name, evaluation.budget))) continue;
    if (schema === false) return evaluation.fails(at, `must NOT have additional properties (${name})`);
    if (!memberHolds(applied, name, schema)) return false;
  }
  return true;
}

export function propertyNames({ evaluation, value, at, scope }: OnMembers, schema: Schema): boolean {
  for (const name of Object.keys(value)) {
    if (!evaluation.holds(schema, name, at, scope, evaluation.newEvaluated())) {
      return evaluation.fails(at, "property name must be valid");
    }
  }
  return true;
}

export function dependentRequired(applied: OnMembers, names: Readonly<Record<string, readonly string[]>>): boolean {
  const { evaluation, value } = applied;
  evaluation.budget.charge(Object.keys(names).length);
  return Object.entries(names).every(
    ([name, others]) => !Object.hasOwn(value, name) || othersAreThere(applied, name, others),
  );
}

function othersAreThere({ evaluation, value, at }: OnMembers, name: string, others: readonly string[]): boolean {
  evaluation.budget.charge(others.length);
  const missing = others.find((other) => !Object.hasOwn(value, other));
  return (
    missing === undefined || evaluation.fails(at, `must have property ${missing} when property ${name} is present`)
  );
}

/** `dependentSchemas`, and `dependencies` of older drafts, which may also list names. */
export function dependencies(
  applied: OnMembers,
  schemas: Readonly<Record<string, Schema | readonly string[]>>,
): boolean {
  const { evaluation, value } = applied;
  evaluation.budget.charge(Object.keys(schemas).length);
  return Object.entries(schemas).every(([name, wanted]) => {
    if (!Object.hasOwn(value, name)) return true;
    if (isNames(wanted)) return othersAreThere(applied, name, wanted);
    return evaluation.holdsHere(wanted, applied);
  });
}

function isNames(wanted: Schema | readonly string[]): wanted is readonly string[] {
  return Array.isArray(wanted);
}

export function unevaluatedProperties(applied: OnMembers, schema: Schema): boolean {
  const { evaluation, value, at, evaluated } = applied;
  if (evaluated === undefined || evaluated.allNames) return true;
  for (const name of Object.keys(value)) {
    evaluation.budget.charge(1);
    if (evaluated.names.has(name)) continue;
    if (schema === false) return evaluation.fails(at, "must NOT have unevaluated properties");
    if (!memberHolds(applied, name, schema)) return false;
  }
  return true;
}
