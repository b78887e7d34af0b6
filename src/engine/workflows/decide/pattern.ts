import { RE2JS } from "re2js";
import { AppError } from "../../../protocol/errors.ts";
import { TooCostly } from "../../schemas/decide/too-costly.ts";
import type { WorkBudget } from "../../schemas/decide/work-budget.ts";

const compiled = new Map<string, RE2JS>();
/** States of all patterns that are kept compiled: some tens of megabytes. */
const KEPT_STATES_MAX = 200_000;
let keptStates = 0;

/** States of the pattern times characters of the text: what a search may take at most, some tenths of a second. */
const WORK_MAX = 2_000_000;

/** A search costs so many states times characters for one unit of a budget. */
const STEPS_PER_UNIT = 2;

interface Pattern {
  /** Whether the text has a match. The search is charged to the budget, where there is one. */
  (text: string, budget?: WorkBudget): boolean;
  /** The size of the pattern as a program. */
  readonly states: number;
}

/**
 * Patterns written by workflow authors run on RE2: linear time whatever the input, so nobody can stop a host with
 * one. Throws `validation_error` for what RE2 does not take (back references, look-around). A search throws `TooCostly`
 * where a pattern of thousands of states meets a text of hundreds of thousands of characters.
 */
export function compilePattern(source: string): Pattern {
  const program = programOf(source);
  const states = program.programSize();
  const test = (text: string, budget?: WorkBudget): boolean => {
    const steps = states * text.length;
    if (steps > WORK_MAX) throw new TooCostly("the pattern is too large for this text");
    budget?.charge(1 + Math.floor(steps / STEPS_PER_UNIT));
    return program.matcher(text).find();
  };
  return Object.assign(test, { states });
}

function programOf(source: string): RE2JS {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  try {
    const program = RE2JS.compile(source);
    keep(source, program);
    return program;
  } catch {
    throw new AppError("validation_error", {
      problem: `the pattern ${JSON.stringify(source.slice(0, 100))} is not one RE2 accepts`,
    });
  }
}

function keep(source: string, program: RE2JS): void {
  const size = program.programSize() + source.length;
  if (keptStates + size > KEPT_STATES_MAX) {
    compiled.clear();
    keptStates = 0;
  }
  if (size > KEPT_STATES_MAX) return;
  compiled.set(source, program);
  keptStates += size;
}
