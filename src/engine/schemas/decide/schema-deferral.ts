import type { Problem } from "../../../protocol/schema.ts";
import type { SchemaObject } from "./schema-document.ts";

/** Thrown through a decision that needs the result of a long check. The decision is made again once the result is known. */
export class CheckElsewhere extends Error {
  override readonly name = "CheckElsewhere";
  readonly schema: SchemaObject;
  readonly value: unknown;

  constructor(schema: SchemaObject, value: unknown) {
    super("a long check of a value has to be made in a thread");
    this.schema = schema;
    this.value = value;
  }
}

/** The work of one check on the deciding thread, at most: about 5 ms. */
const CHECK_UNITS_HERE = 50_000;

/** The work of checks between two pauses of a decision: about 20 ms. */
const UNITS_BETWEEN_PAUSES = 200_000;

interface DeferralLimits {
  /** The work of all checks of the decision on this thread. */
  readonly unitsHere: number;
  /** Checks of the decision in the thread for long checks. With more, a value counts as not matching. */
  readonly checksElsewhere: number;
}

/** Requests: about 20 ms of checks here, and 20 long checks of about a second each. */
export const REQUEST_LIMITS: DeferralLimits = { unitsHere: 200_000, checksElsewhere: 20 };

/**
 * Turns of runs: the number of checks is that of the nodes. A result must not depend on the checks before it, because a run takes many turns and
 * its replay takes one.
 */
export const TURN_LIMITS: DeferralLimits = {
  unitsHere: Number.POSITIVE_INFINITY,
  checksElsewhere: Number.POSITIVE_INFINITY,
};

/** The results of long checks for one decision. A result depends on schema and value alone, so it does not change the decision. */
export class Deferral {
  readonly #limits: DeferralLimits;
  #left: number;
  #spent = 0;
  /** Created with the first result: most decisions need none. */
  #results: Map<string, readonly Problem[]> | undefined;

  constructor(limits: DeferralLimits) {
    this.#limits = limits;
    this.#left = limits.unitsHere;
  }

  /** The work of the next check on this thread, at most. */
  get unitsHere(): number {
    return Math.max(0, Math.min(CHECK_UNITS_HERE, this.#left));
  }

  spend(units: number): void {
    this.#left -= units;
    this.#spent += units;
  }

  /** Whether checks have blocked this thread for about 20 ms since the last pause. */
  get needsPause(): boolean {
    return this.#spent >= UNITS_BETWEEN_PAUSES;
  }

  paused(): void {
    this.#spent = 0;
  }

  get isFull(): boolean {
    return (this.#results?.size ?? 0) >= this.#limits.checksElsewhere;
  }

  known(schema: SchemaObject, value: unknown): readonly Problem[] | undefined {
    return this.#results?.get(keyOf(schema, value));
  }

  bring({ schema, value }: CheckElsewhere, problems: readonly Problem[]): void {
    this.#results ??= new Map();
    this.#results.set(keyOf(schema, value), problems);
    this.#left = this.#limits.unitsHere;
  }
}

function keyOf(schema: SchemaObject, value: unknown): string {
  return JSON.stringify([schema, value]);
}

let current: Deferral | undefined;

export function currentDeferral(): Deferral | undefined {
  return current;
}

/** Decides synchronously; long checks throw `CheckElsewhere` unless their result is known. */
export function deferring<T>(deferral: Deferral, decide: () => T): T {
  const before = current;
  current = deferral;
  try {
    return decide();
  } finally {
    current = before;
  }
}
