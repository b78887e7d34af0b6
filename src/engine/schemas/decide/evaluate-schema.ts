import type { Problem } from "../../../protocol/schema.ts";
import { type Applied, type Checking, Evaluated, type Place, type Scope } from "./applied.ts";
import { keywordsOf } from "./apply-keywords.ts";
import { jsonKey } from "./deep-equal.ts";
import {
  SCHEMA_OF_SCHEMAS,
  type Schema,
  SchemaDocument,
  type SchemaObject,
  UnusableSchema,
} from "./schema-document.ts";
import type { WorkBudget } from "./work-budget.ts";

const PROBLEMS_MAX = 10;

/** One check of one value. Each step is charged to the budget, which throws `TooCostly` when it is spent. */
export class Evaluation implements Checking {
  readonly document: SchemaDocument;
  readonly budget: WorkBudget;
  readonly problems: Problem[] = [];
  readonly #enums = new Map<readonly unknown[], ReadonlySet<string>>();
  readonly #constants = new Map<object, string>();

  constructor(document: SchemaDocument, budget: WorkBudget) {
    this.document = document;
    this.budget = budget;
  }

  holds(schema: Schema, value: unknown, at?: Place, outer?: Scope, evaluated?: Evaluated): boolean {
    this.budget.charge(1);
    if (schema === true) return true;
    if (schema === false) return this.fails(at, "boolean schema is false");
    if (schema === SCHEMA_OF_SCHEMAS) return this.#isSchema(value, at);
    const scope = this.document.isResource(schema) ? { resource: schema, outer } : outer;
    this.budget.enter();
    const held = this.#satisfies({ evaluation: this, schema, value, at, scope, evaluated });
    this.budget.leave();
    return held;
  }

  #satisfies(applied: Applied): boolean {
    for (const { apply, wanted } of keywordsOf(applied.schema)) {
      this.budget.charge(1);
      if (!apply(applied, wanted)) return false;
    }
    return true;
  }

  holdsHere(schema: Schema, { value, at, scope, evaluated }: Applied): boolean {
    if (evaluated === undefined) return this.holds(schema, value, at, scope);
    const within = new Evaluated();
    if (!this.holds(schema, value, at, scope, within)) return false;
    evaluated.add(within, this.budget);
    return true;
  }

  wouldHold(schema: Schema, applied: Applied): boolean {
    const before = this.problems.length;
    const held = this.holdsHere(schema, applied);
    this.problems.length = before;
    return held;
  }

  newEvaluated(): Evaluated | undefined {
    return this.document.tracksEvaluated ? new Evaluated() : undefined;
  }

  fails(at: Place | undefined, problem: string): false {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push({ path: pathOf(at), problem });
    return false;
  }

  /** Members of an enumeration are found by key, so their number does not matter. */
  isAmong(members: readonly unknown[], value: unknown): boolean {
    let keys = this.#enums.get(members);
    if (keys === undefined) {
      keys = new Set(members.map((member) => jsonKey(member, this.budget)));
      this.#enums.set(members, keys);
    }
    return keys.has(jsonKey(value, this.budget));
  }

  equals(wanted: unknown, value: unknown): boolean {
    if (typeof wanted !== "object" || wanted === null) return value === wanted;
    const key = this.#constants.get(wanted) ?? jsonKey(wanted, this.budget);
    this.#constants.set(wanted, key);
    return jsonKey(value, this.budget) === key;
  }

  #isSchema(value: unknown, at: Place | undefined): boolean {
    if (typeof value === "boolean") return true;
    if (typeof value !== "object" || value === null) return this.fails(at, "must be object,boolean");
    try {
      return Boolean(new SchemaDocument(value as SchemaObject, this.budget));
    } catch (error) {
      if (!(error instanceof UnusableSchema)) throw error;
      return this.fails(at, error.message);
    }
  }
}

function pathOf(at: Place | undefined): string {
  const steps: string[] = [];
  for (let place = at; place !== undefined; place = place.outer) {
    steps.push(`/${String(place.step).replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
  return steps.reverse().join("");
}
