import type { WorkBudget } from "./work-budget.ts";

/** The members and items of one value that some schema has looked at. The `unevaluated…` keywords are about the others. */
export class Evaluated {
  readonly names = new Set<string>();
  allNames = false;
  /** How many items from the first on. */
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
