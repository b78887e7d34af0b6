import { _, Ajv2020, type CodeKeywordDefinition } from "ajv/dist/2020.js";
import { compilePattern } from "./pattern.ts";
import { TooCostly } from "./too-costly.ts";

/**
 * How many references one check may follow. A schema of a few lines can refer to the same place twice at each of many
 * levels, and whoever checks a value against it has no time for anybody else.
 */
const REFERENCES_MAX = 100_000;

let left = 0;

/** What is checked inside may follow that many references, and no more. */
export function bounded<T>(check: () => T): T {
  left = REFERENCES_MAX;
  return check();
}

function follow(): void {
  left -= 1;
  if (left < 0) throw new TooCostly("the schema goes round in too many references");
}

/** One instance per schema: author-chosen `$id`s must not meet each other. */
export function newAjv(): Ajv2020 {
  // Ajv keeps one pattern per text, so each has to say its own; otherwise all of them would be the first.
  const pattern = (source: string) => ({ test: compilePattern(source), toString: () => source });
  const regExp = Object.assign(pattern, { code: "compilePattern" });
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    validateFormats: false,
    // The author's patterns run in linear time, see pattern.ts.
    code: { regExp: regExp as never },
    logger: false,
  });
  for (const keyword of ["$ref", "$dynamicRef"]) countReferences(ajv, keyword);
  // Ajv compares every item with every other one.
  ajv.removeKeyword("uniqueItems").addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (wanted: boolean, items: readonly unknown[]) => !wanted || areUnique(items),
    error: { message: "must NOT have duplicate items" },
  });
  return ajv;
}

function countReferences({ RULES }: Ajv2020, keyword: string): void {
  const rule = RULES.all[keyword];
  if (typeof rule !== "object") throw new Error(`ajv has no keyword ${keyword}`);
  const definition = rule.definition as CodeKeywordDefinition;
  const counted: CodeKeywordDefinition = {
    ...definition,
    code(context, type) {
      context.gen.code(_`${context.gen.scopeValue("func", { ref: follow })}()`);
      definition.code(context, type);
    },
  };
  rule.definition = counted as typeof rule.definition;
}

function areUnique(items: readonly unknown[]): boolean {
  return new Set(items.map((item) => JSON.stringify(item, inOrder))).size === items.length;
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
