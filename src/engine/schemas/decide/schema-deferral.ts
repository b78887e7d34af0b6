import type { Problem } from "../../../protocol/schema.ts";
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
const REQUEST_UNITS_HERE = 200_000;

/** What checks of a decision that pauses may take between two pauses: about 20 ms. */
const UNITS_BETWEEN_PAUSES = 200_000;

/** Checks of one request that may be made elsewhere. Each may take about a second, and those beyond are not made. */
const REQUEST_CHECKS_ELSEWHERE = 20;

interface DeferralLimits {
  /** What all checks of the decision may take on this thread. */
  readonly unitsHere: number;
  /** Checks of the decision that may be made elsewhere; a value is taken not to match where one more is needed. */
  readonly checksElsewhere: number;
}

export const REQUEST_LIMITS: DeferralLimits = {
  unitsHere: REQUEST_UNITS_HERE,
  checksElsewhere: REQUEST_CHECKS_ELSEWHERE,
};

/**
 * Turns of runs: each check for itself is short or made elsewhere, and the number of checks is that of the nodes. A verdict must not
 * depend on the checks before it: a run takes many turns, and its replay takes one.
 */
export const TURN_LIMITS: DeferralLimits = {
  unitsHere: Number.POSITIVE_INFINITY,
  checksElsewhere: Number.POSITIVE_INFINITY,
};

/**
 * Verdicts that were reached elsewhere, for one decision. A verdict follows from schema and value alone, so a decision with
 * verdicts at hand is the decision that would have been made without them.
 */
export class Deferral {
  readonly #limits: DeferralLimits;
  #left: number;
  #spent = 0;
  /** Made with the first verdict: most decisions need none. */
  #verdicts: Map<string, readonly Problem[]> | undefined;

  constructor(limits: DeferralLimits) {
    this.#limits = limits;
    this.#left = limits.unitsHere;
  }

  /** What the next check may take on this thread. */
  get unitsHere(): number {
    return Math.max(0, Math.min(CHECK_UNITS_HERE, this.#left));
  }

  spend(units: number): void {
    this.#left -= units;
    this.#spent += units;
  }

  /** Whether checks have held this thread for about 20 ms since the last pause. */
  get needsPause(): boolean {
    return this.#spent >= UNITS_BETWEEN_PAUSES;
  }

  paused(): void {
    this.#spent = 0;
  }

  get isFull(): boolean {
    return (this.#verdicts?.size ?? 0) >= this.#limits.checksElsewhere;
  }

  known(schema: SchemaObject, value: unknown): readonly Problem[] | undefined {
    return this.#verdicts?.get(keyOf(schema, value));
  }

  bring({ schema, value }: CheckElsewhere, problems: readonly Problem[]): void {
    this.#verdicts ??= new Map();
    this.#verdicts.set(keyOf(schema, value), problems);
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
