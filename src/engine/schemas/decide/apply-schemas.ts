import { own } from "../../../protocol/own.ts";
import { compilePattern } from "../../workflows/decide/pattern.ts";
import type { Applied, Scope } from "./applied.ts";
import type { Schema, SchemaObject } from "./schema-document.ts";

export function applyRef(applied: Applied): boolean {
  const { evaluation, schema } = applied;
  return evaluation.holdsHere(evaluation.document.targetOf(schema, "$ref"), applied);
}

/** Applies the outermost schema with the dynamic anchor of the target; the target itself where it has none. */
export function applyDynamicRef(applied: Applied, reference: string): boolean {
  const { evaluation, schema, scope } = applied;
  const target = evaluation.document.targetOf(schema, "$dynamicRef");
  const name = reference.split("#", 2)[1] ?? "";
  const isDynamic = typeof target === "object" && own(target, "$dynamicAnchor") === name;
  return evaluation.holdsHere(isDynamic ? outermost(applied, scope, name, target) : target, applied);
}

function outermost({ evaluation }: Applied, from: Scope | undefined, name: string, target: SchemaObject): SchemaObject {
  let found = target;
  for (let scope = from; scope !== undefined; scope = scope.outer) {
    evaluation.budget.charge(1);
    found = evaluation.document.dynamicAnchor(scope.resource, name) ?? found;
  }
  return found;
}

export function applyNot(applied: Applied, schema: Schema): boolean {
  const { evaluation, at } = applied;
  return (
    !evaluation.wouldHold(schema, { ...applied, evaluated: evaluation.newEvaluated() }) ||
    evaluation.fails(at, "must NOT be valid")
  );
}

export function applyAllOf(applied: Applied, schemas: readonly Schema[]): boolean {
  return schemas.every((schema) => applied.evaluation.holdsHere(schema, applied));
}

/** The problems of the alternatives are kept where none of them holds. All are tried where evaluated members matter. */
export function applyAnyOf(applied: Applied, schemas: readonly Schema[]): boolean {
  const { evaluation, at, evaluated } = applied;
  const before = evaluation.problems.length;
  let held = false;
  for (const schema of schemas) {
    held = evaluation.holdsHere(schema, applied) || held;
    if (held && evaluated === undefined) break;
  }
  if (!held) return evaluation.fails(at, "must match a schema in anyOf");
  evaluation.problems.length = Math.min(before, evaluation.problems.length);
  return true;
}

export function applyOneOf(applied: Applied, schemas: readonly Schema[]): boolean {
  const { evaluation, at } = applied;
  const before = evaluation.problems.length;
  let held = 0;
  for (const schema of schemas) {
    if (evaluation.holdsHere(schema, applied)) held += 1;
    if (held > 1) break;
  }
  if (held === 0) return evaluation.fails(at, "must match exactly one schema in oneOf");
  evaluation.problems.length = Math.min(before, evaluation.problems.length);
  return held === 1 || evaluation.fails(at, "must match exactly one schema in oneOf");
}

export function applyIf(applied: Applied, condition: Schema): boolean {
  const { evaluation, schema, at } = applied;
  const branch = evaluation.wouldHold(condition, applied) ? "then" : "else";
  if (!Object.hasOwn(schema, branch)) return true;
  return (
    evaluation.holdsHere(schema[branch] as Schema, applied) || evaluation.fails(at, `must match "${branch}" schema`)
  );
}

type OnItems = Applied & { readonly value: readonly unknown[] };

export function prefixItems({ evaluation, value, at, scope, evaluated }: OnItems, schemas: readonly Schema[]): boolean {
  const count = Math.min(schemas.length, value.length);
  if (evaluated !== undefined) evaluated.items = Math.max(evaluated.items, count);
  for (let i = 0; i < count; i++) {
    const schema = schemas[i] ?? true;
    if (!evaluation.holds(schema, value[i], { outer: at, step: i }, scope, evaluation.newEvaluated())) return false;
  }
  return true;
}

/** The items after those of `prefixItems`. */
export function items({ evaluation, schema: whole, value, at, scope, evaluated }: OnItems, schema: Schema): boolean {
  const prefix = (own(whole, "prefixItems") as readonly Schema[] | undefined)?.length ?? 0;
  if (evaluated !== undefined) evaluated.items = Number.POSITIVE_INFINITY;
  if (schema === false && value.length > prefix) return evaluation.fails(at, `must NOT have more than ${prefix} items`);
  for (let i = prefix; i < value.length; i++) {
    if (!evaluation.holds(schema, value[i], { outer: at, step: i }, scope, evaluation.newEvaluated())) return false;
  }
  return true;
}

export function contains({ evaluation, schema: whole, value, at, scope, evaluated }: OnItems, schema: Schema): boolean {
  const min = (own(whole, "minContains") as number | undefined) ?? 1;
  const max = (own(whole, "maxContains") as number | undefined) ?? Number.POSITIVE_INFINITY;
  const before = evaluation.problems.length;
  let count = 0;
  for (let i = 0; i < value.length; i++) {
    if (!evaluation.holds(schema, value[i], { outer: at, step: i }, scope, evaluation.newEvaluated())) continue;
    count += 1;
    evaluated?.found.add(i);
  }
  evaluation.problems.length = before;
  if (count >= min && count <= max) return true;
  const most = max === Number.POSITIVE_INFINITY ? "" : ` and no more than ${max}`;
  return evaluation.fails(at, `must contain at least ${min}${most} valid item(s)`);
}

export function unevaluatedItems({ evaluation, value, at, scope, evaluated }: OnItems, schema: Schema): boolean {
  if (evaluated === undefined) return true;
  for (let i = evaluated.items; i < value.length; i++) {
    if (evaluated.found.has(i)) continue;
    if (schema === false) return evaluation.fails(at, `must NOT have more than ${i} items`);
    if (!evaluation.holds(schema, value[i], { outer: at, step: i }, scope, evaluation.newEvaluated())) return false;
  }
  evaluated.items = Number.POSITIVE_INFINITY;
  return true;
}

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
  // The shorter list is searched: a schema and a value may have thousands of members.
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
    ([name, others]) => !Object.hasOwn(value, name) || hasOthers(applied, name, others),
  );
}

function hasOthers({ evaluation, value, at }: OnMembers, name: string, others: readonly string[]): boolean {
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
    if (isNames(wanted)) return hasOthers(applied, name, wanted);
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
