import { RE2JS } from "re2js";
import { validationError } from "../../../protocol/errors.ts";
import { TooCostly, type WorkBudget } from "../../schemas/decide/work-budget.ts";

const compiled = new Map<string, RE2JS>();
/** States of all cached patterns: some tens of megabytes. */
const KEPT_STATES_MAX = 200_000;
let keptStates = 0;

/** States of the pattern times characters of the text of one search, at most: some tenths of a second. */
const WORK_MAX = 2_000_000;

/** States times characters for one unit of a budget. */
const STEPS_PER_UNIT = 2;

interface Pattern {
  /** Whether the text has a match. The search is charged to the budget, if given. */
  (text: string, budget?: WorkBudget): boolean;
  /** The size of the pattern as a program. */
  readonly states: number;
}

/**
 * Patterns of workflow authors run on RE2, in linear time, so that no pattern blocks a host. Throws `validation_error` for patterns that RE2 does
 * not accept (back references, look-around). A search throws `TooCostly` for a pattern of thousands of states with a text of hundreds of
 * thousands of characters.
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
    throw validationError(`the pattern ${JSON.stringify(source.slice(0, 100))} is not one RE2 accepts`);
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

/** The compile time of a Unicode class, or of a class that ignores case, in states. It does not depend on repetitions. */
const CLASS_STATES = 50;

interface Group {
  /** States of the group up to its last part. */
  sum: number;
  /** States of the last part, which a repetition multiplies. */
  last: number;
}

/**
 * An upper estimate of the states of a pattern, without compiling it: nested repetitions multiply, so a pattern of 20 characters may have
 * thousands. Syntax errors are left to the compiler.
 */
export function patternSize(source: string): number {
  const groups: Group[] = [];
  let group: Group = { sum: 0, last: 0 };
  const part = (states: number) => {
    group.sum += group.last;
    group.last = states;
  };
  const ignoresCase = /\(\?[a-zA-Z]*i/.test(source);
  let classes = 0;
  for (let at = 0; at < source.length; ) {
    const character = source.charAt(at);
    const end = endOf(source, at);
    if (character === "(") {
      groups.push(group);
      group = { sum: 0, last: 0 };
    } else if (character === ")") {
      const states = group.sum + group.last + 2;
      group = groups.pop() ?? { sum: 0, last: 0 };
      part(states);
    } else if (character === "{" && end > at + 1) {
      group.last = (group.last + 1) * timesOf(source.slice(at + 1, end - 1));
    } else if ("*+?|".includes(character)) {
      group.last += 1;
      if (character === "|") part(0);
    } else {
      part(1);
      classes += namedClasses(source.slice(at, end)) + (character === "[" && ignoresCase ? 1 : 0);
    }
    at = end;
  }
  return [...groups, group].reduce((sum, one) => sum + one.sum + one.last, classes * CLASS_STATES);
}

const REPETITION = /\{(\d{1,9})(,\d{0,9})?\}/y;
const ESCAPE = /\\(?:[pPx]\{[^}]{0,64}\}|[pP].|[\s\S])/y;
const CLASS = /\[\^?\]?(?:\\[\s\S]|\[:\^?[a-z]{1,12}:\]|[^\]\\])*\]?/y;

/** The end of the part that begins here. */
function endOf(source: string, at: number): number {
  const character = source.charAt(at);
  const rule = character === "{" ? REPETITION : character === "\\" ? ESCAPE : character === "[" ? CLASS : undefined;
  if (rule === undefined) return at + 1;
  rule.lastIndex = at;
  return rule.test(source) ? rule.lastIndex : at + 1;
}

function timesOf(repetition: string): number {
  const [least = "", most = ""] = repetition.split(",");
  return Math.max(1, Number(least), Number(most));
}

function namedClasses(text: string): number {
  return text.match(/\\[pP]/g)?.length ?? 0;
}
