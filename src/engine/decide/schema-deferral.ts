import type { Problem } from "../../protocol/schema.ts";
import type { SchemaObject } from "./schema-document.ts";

/** Thrown through a decision that needs the verdict of a check which takes long. The decision is made again once the verdict is known. */
export class CheckElsewhere extends Error {
  override readonly name = "CheckElsewhere";
  readonly schema: SchemaObject;
  readonly value: unknown;

  constructor(schema: SchemaObject, value: unknown) {
    super("the check of a value takes long; its verdict is to be brought");
    this.schema = schema;
    this.value = value;
  }
}

/** What one check may take on the thread that decides: about 5 ms. */
const CHECK_UNITS_HERE = 50_000;

/** What all checks of one request may take there: about 20 ms. */
export const REQUEST_UNITS_HERE = 200_000;

/** Checks of one decision that may be made elsewhere. Each may take about a second, and those beyond are not made. */
const ELSEWHERE_MAX = 20;

/**
 * Verdicts that were reached elsewhere, for one decision. A verdict follows from schema and value alone, so a decision with
 * verdicts at hand is the decision that would have been made without them.
 */
export class Deferral {
  readonly #total: number;
  #left: number;
  readonly #verdicts = new Map<string, readonly Problem[]>();

  /** @param total what all checks of the decision may take on this thread */
  constructor(total: number) {
    this.#total = total;
    this.#left = total;
  }

  /** What the next check may take on this thread. */
  get unitsHere(): number {
    return Math.max(0, Math.min(CHECK_UNITS_HERE, this.#left));
  }

  spend(units: number): void {
    this.#left -= units;
  }

  get isFull(): boolean {
    return this.#verdicts.size >= ELSEWHERE_MAX;
  }

  known(schema: SchemaObject, value: unknown): readonly Problem[] | undefined {
    return this.#verdicts.size === 0 ? undefined : this.#verdicts.get(keyOf(schema, value));
  }

  bring({ schema, value }: CheckElsewhere, problems: readonly Problem[]): void {
    this.#verdicts.set(keyOf(schema, value), problems);
    this.#left = this.#total;
  }
}

function keyOf(schema: SchemaObject, value: unknown): string {
  return JSON.stringify([schema, value]);
}

let current: Deferral | undefined;

export function currentDeferral(): Deferral | undefined {
  return current;
}

/** Decides synchronously; checks that take long throw `CheckElsewhere` unless their verdict is known. */
export function deferring<T>(deferral: Deferral, decide: () => T): T {
  const before = current;
  current = deferral;
  try {
    return decide();
  } finally {
    current = before;
  }
}
