/** Thrown through a check that takes too much work. The value must then count as not matching. */
export class TooCostly extends Error {
  override readonly name = "TooCostly";
}

/** The budget is spent; with a larger one the check might have ended. */
export class OutOfWork extends TooCostly {}

/**
 * The work of one check, counted and not timed: one unit for each keyword applied to a value, each member, each compared value and each step of a
 * pattern. The same check always costs the same, so a replay decides like its source.
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

  /** Enters a nested schema or a reference. The limit of depth is far below the size of a thread's stack. */
  enter(): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new TooCostly(`the schema goes more than ${DEPTH_MAX} levels deep`);
  }

  leave(): void {
    this.#depth -= 1;
  }
}

const DEPTH_MAX = 500;
