import { OutOfWork, TooCostly } from "./too-costly.ts";

/**
 * The work one check may take, counted and not timed: one unit for each keyword applied to a value, each member looked at, each
 * value compared and each step of a pattern. The same check costs the same everywhere, so a replay decides as its source did.
 */
export class WorkBudget {
  readonly #units: number;
  #left: number;
  #depth = 0;

  constructor(units: number) {
    this.#units = units;
    this.#left = units;
  }

  get spent(): number {
    return this.#units - Math.max(0, this.#left);
  }

  charge(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new OutOfWork(`the check takes more than ${this.#units} units of work`);
  }

  /** Schemas within schemas, references included. The limit is far below the size of a thread's stack. */
  enter(): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new TooCostly(`the schema goes more than ${DEPTH_MAX} levels deep`);
  }

  leave(): void {
    this.#depth -= 1;
  }
}

const DEPTH_MAX = 500;
