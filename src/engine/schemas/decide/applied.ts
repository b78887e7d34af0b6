import type { Problem } from "../../../protocol/schema.ts";
import type { Evaluated } from "./evaluated.ts";
import type { Schema, SchemaDocument, SchemaObject } from "./schema-document.ts";
import type { WorkBudget } from "./work-budget.ts";

/** Where a value is in the whole, from the inside out: a path is only built when there is a problem. */
export interface Place {
  readonly outer: Place | undefined;
  readonly step: string | number;
}

/** The schema resources that a check went through, the innermost first. `$dynamicRef` looks for the outermost. */
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

/** What keywords use of the check that applies them; see `Evaluation`. */
export interface Checking {
  readonly document: SchemaDocument;
  readonly budget: WorkBudget;
  readonly problems: Problem[];
  /** Whether the value is as the schema has it; if not, its first problem is noted. */
  holds(schema: Schema, value: unknown, at?: Place, outer?: Scope, evaluated?: Evaluated): boolean;
  /** Applies another schema to the same value. What it evaluated counts where it holds. */
  holdsHere(schema: Schema, applied: Applied): boolean;
  /** The same, without a trace of the problems. */
  wouldHold(schema: Schema, applied: Applied): boolean;
  newEvaluated(): Evaluated | undefined;
  fails(at: Place | undefined, problem: string): false;
  isAmong(members: readonly unknown[], value: unknown): boolean;
  equals(wanted: unknown, value: unknown): boolean;
}
