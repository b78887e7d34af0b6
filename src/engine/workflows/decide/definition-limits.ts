import { validationError } from "../../../protocol/errors.ts";
import { patternSize } from "./pattern.ts";

/** Limits of the patterns and expressions of a definition, which are all compiled when it is registered. */
const DEFINITION_LIMITS = {
  /** States of one pattern, as a program. */
  patternStates: 5_000,
  /** States of all patterns that differ. */
  allPatternStates: 20_000,
  /** Characters of all expressions that differ. */
  expressionCharacters: 262_144,
} as const;

interface Found {
  readonly patterns: Set<string>;
  readonly expressions: Set<string>;
}

/** Throws `validation_error` for a definition whose patterns and expressions take too long to compile. */
export function requireCompilable(definition: object): void {
  const problem = compileExcess(definition);
  if (problem !== undefined) throw validationError(problem);
}

/** The excess of the patterns and expressions of a definition or a schema, if any. */
export function compileExcess(value: object): string | undefined {
  const found: Found = { patterns: new Set(), expressions: new Set() };
  collect(value, found);
  const { patternStates, allPatternStates, expressionCharacters } = DEFINITION_LIMITS;
  let states = 0;
  for (const pattern of found.patterns) {
    const size = patternSize(pattern);
    if (size > patternStates) {
      return `the pattern ${JSON.stringify(pattern.slice(0, 100))} has more than ${patternStates} states; write it shorter`;
    }
    states += size;
  }
  if (states > allPatternStates) return `its patterns have more than ${allPatternStates} states together`;
  const characters = [...found.expressions].reduce((sum, { length }) => sum + length, 0);
  if (characters <= expressionCharacters) return undefined;
  return `its expressions have more than ${expressionCharacters} characters together`;
}

function collect(value: unknown, found: Found): void {
  if (typeof value !== "object" || value === null) return;
  const fields = value as Readonly<Record<string, unknown>>;
  for (const [name, member] of Object.entries(value)) {
    if (name === "pattern" && typeof member === "string") found.patterns.add(member);
    else if (name === "right" && fields["type"] === "regex" && typeof member === "string") found.patterns.add(member);
    else if (name === "expression" && typeof member === "string") found.expressions.add(member);
    else if (name === "patternProperties") for (const key of Object.keys(Object(member))) found.patterns.add(key);
    collect(member, found);
  }
}
