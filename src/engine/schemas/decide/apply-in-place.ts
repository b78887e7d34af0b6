import { own } from "../../../protocol/own.ts";
import type { Applied, Scope } from "./applied.ts";
import type { Schema, SchemaObject } from "./schema-document.ts";

/** Keywords that apply other schemas to the same value. */

export function applyRef(applied: Applied): boolean {
  const { evaluation, schema } = applied;
  return evaluation.holdsHere(evaluation.document.targetOf(schema, "$ref"), applied);
}

/** The outermost schema of that dynamic anchor among those that the check went through, where the target has one at all. */
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

/** Problems of the alternatives stay where none of them holds. All are tried where it matters what each has evaluated. */
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
