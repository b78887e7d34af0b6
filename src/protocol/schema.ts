import { type Static, type TArray, type TSchema, Type } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { AppError } from "./errors.ts";

export type { Static, TSchema } from "typebox";
export { Type } from "typebox";

/** Of objects whose members are all known: others are refused. */
export const closed = { additionalProperties: false } as const;
/** Of objects that may have further members. */
export const open = { additionalProperties: true } as const;
export const Count = Type.Integer({ minimum: 0 });
export const Positive = Type.Integer({ minimum: 1 });
export const Share = Type.Number({ minimum: 0, maximum: 1 });
/** Of a generator of random numbers. */
export const Seed = Type.Integer({ minimum: 0, maximum: 4_294_967_295 });
export const Name = Type.String({ minLength: 1 });
export const ShortName = Type.String({ minLength: 1, maxLength: 256 });
export const Id = Type.String({ minLength: 1, maxLength: 128 });
/** An RFC 3339 instant of a request; `instantMs` checks the rest. */
export const Instant = Type.String({ minLength: 20, maxLength: 40 });
/** An instant in a response. */
export const Timestamp = Type.String({ description: "ISO 8601" });
export const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
export const JsonObject = Type.Record(Type.String(), Type.Unknown());
/** The page size of a list, and the place where a page begins. */
export const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 200 }));
export const Cursor = Type.Optional(Type.String({ minLength: 1, maxLength: 512 }));

/** A value or null. */
export function nullable<S extends TSchema>(schema: S, options: { readonly description?: string } = {}) {
  return Type.Union([schema, Type.Null()], options);
}

/** A page of a list, with the cursor of the next one. */
export function pageOf<const K extends string, S extends TSchema>(name: K, item: S) {
  const list = { [name]: Type.Array(item) } as { [P in K]: TArray<S> };
  return Type.Object({ ...list, nextCursor: Type.Optional(Type.String()) }, closed);
}

const compiled = new WeakMap<TSchema, Validator>();

/** Compiled once per schema value; schemas are module constants, so this is once per process. */
export function validator(schema: TSchema): Validator {
  let found = compiled.get(schema);
  if (!found) {
    found = Compile(schema);
    compiled.set(schema, found);
  }
  return found;
}

export function matches<S extends TSchema>(schema: S, value: unknown): value is Static<S> {
  return validator(schema).Check(value);
}

/** Returns the value, typed, or throws `validation_error` naming every offending path. Coerces nothing. */
export function parse<S extends TSchema>(schema: S, value: unknown, where: string): Static<S> {
  if (validator(schema).Check(value)) return value as Static<S>;
  const problems = problemsOf(schema, value);
  const first = problems[0] ?? { path: "", problem: "does not match" };
  throw new AppError("validation_error", {
    problem: `${where}${first.path} ${first.problem}`,
    problems,
  });
}

export interface Problem {
  readonly path: string;
  readonly problem: string;
}

/** A problem in words; `whole` names the value where the problem is of all of it. */
export function problemText({ path, problem }: Problem, whole = "it"): string {
  return `${path === "" ? whole : path} ${problem}`.trim();
}

/** The first problem of a value that does not match, in words. */
export function firstProblem(schema: TSchema, value: unknown, whole?: string): string {
  return problemsOf(schema, value, 1).map((problem) => problemText(problem, whole))[0] ?? "";
}

const MAX_PROBLEMS = 10;

/** Problems as paths and sentences. Never includes the offending values: they may be secrets. */
export function problemsOf(schema: TSchema, value: unknown, max = MAX_PROBLEMS): Problem[] {
  const problems: Problem[] = [];
  for (const error of validator(schema).Errors(value)) {
    if (error.keyword === "boolean" || error.keyword === "anyOf") continue;
    problems.push({ path: error.instancePath, problem: conditional(schema, error) ?? sentence(error) });
    if (problems.length === max) break;
  }
  return problems.length > 0 ? problems : [{ path: "", problem: "does not match any allowed form" }];
}

/** The members that a condition requires where it holds; the validator only reports that one of them is missing. */
function conditional(schema: TSchema, error: { keyword: string; schemaPath: string }): string | undefined {
  if (error.keyword !== "if") return undefined;
  const steps = error.schemaPath.split("/").slice(1);
  const at = steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], schema);
  const { required } = (at as { then?: { required?: readonly string[] } } | undefined)?.then ?? {};
  return required === undefined ? undefined : `must have ${list(required)}`;
}

function sentence(error: { keyword: string; message: string; params: object }): string {
  const params = error.params as Record<string, unknown>;
  if (error.keyword === "additionalProperties") {
    return `must not have ${list(params["additionalProperties"])}; remove it`;
  }
  if (error.keyword === "required") return `must have ${list(params["requiredProperties"])}`;
  if (error.keyword === "enum") return `must be one of ${list(params["allowedValues"])}`;
  if (error.keyword === "const") return `must be ${JSON.stringify(params["allowedValue"])}`;
  return error.message;
}

function list(value: unknown): string {
  return Array.isArray(value) ? value.map((item) => quoted(String(item))).join(", ") : String(value);
}

const QUOTED_MAX = 100;

/** A name of the request's own as errors show it. A long one is left out whole: a part of a secret is not recognised as one. */
export function quoted(name: string): string {
  return name.length <= QUOTED_MAX ? `"${name}"` : `a name of ${name.length} characters`;
}
