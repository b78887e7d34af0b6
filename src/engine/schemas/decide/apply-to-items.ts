import { own } from "../../../protocol/own.ts";
import type { Applied } from "./applied.ts";
import type { Schema } from "./schema-document.ts";

/** Keywords that apply schemas to the items of a list. */
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
  if (schema === false && value.length > prefix) {
    return evaluation.fails(at, `must NOT have more than ${prefix} items`);
  }
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
