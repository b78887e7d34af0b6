import type { Problem } from "../../../protocol/schema.ts";
import type { Schema, SchemaDocument, SchemaObject } from "./schema-document.ts";
import type { WorkBudget } from "./work-budget.ts";

/** The place of a value, from the inside out: a path is built only for a problem. */
export interface Place {
  readonly outer: Place | undefined;
  readonly step: string | number;
}

/** The schema resources of a check, the innermost first. `$dynamicRef` searches the outermost. */
export interface Scope {
  readonly resource: SchemaObject;
  readonly outer: Scope | undefined;
}

/** A schema that is applied to a value. */
export interface Applied {
  readonly evaluation: Checking;
  readonly schema: SchemaObject;
  readonly value: unknown;
  readonly at: Place | undefined;
  readonly scope: Scope | undefined;
  readonly evaluated: Evaluated | undefined;
}

/** The interface of a check for keywords; see `Evaluation`. */
export interface Checking {
  readonly document: SchemaDocument;
  readonly budget: WorkBudget;
  readonly problems: Problem[];
  /** Whether the value matches the schema; if not, its first problem is recorded. */
  holds(schema: Schema, value: unknown, at?: Place, outer?: Scope, evaluated?: Evaluated): boolean;
  /** Applies another schema to the same value. The members that it evaluated count where it holds. */
  holdsHere(schema: Schema, applied: Applied): boolean;
  /** The same without recording problems. */
  wouldHold(schema: Schema, applied: Applied): boolean;
  newEvaluated(): Evaluated | undefined;
  fails(at: Place | undefined, problem: string): false;
  isAmong(members: readonly unknown[], value: unknown): boolean;
  equals(wanted: unknown, value: unknown): boolean;
}

/** The members and items of one value that a schema has evaluated. The `unevaluated…` keywords apply to the others. */
export class Evaluated {
  readonly names = new Set<string>();
  allNames = false;
  /** The number of evaluated items from the first on. */
  items = 0;
  /** Items that `contains` has found. */
  readonly found = new Set<number>();

  add(other: Evaluated, budget: WorkBudget): void {
    budget.charge(1 + other.names.size + other.found.size);
    for (const name of other.names) this.names.add(name);
    for (const index of other.found) this.found.add(index);
    this.allNames ||= other.allNames;
    this.items = Math.max(this.items, other.items);
  }
}
