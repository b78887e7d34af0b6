import { AppError, validationError } from "../../../protocol/errors.ts";
import type { Problem } from "../../../protocol/schema.ts";
import { Evaluation } from "./evaluate-schema.ts";
import { CheckElsewhere, currentDeferral, type Deferral } from "./schema-deferral.ts";
import { SchemaDocument, type SchemaObject, UnusableSchema } from "./schema-document.ts";
import { OutOfWork, TooCostly, WorkBudget } from "./work-budget.ts";

/** A check against a schema of a workflow, gate, pack or tool. Formats are annotations, as in draft 2020-12. */
export type CompiledSchema = (value: unknown) => Problem[];

/** The work of one check, at most: about a second. The result depends on this number, never on the time. */
const CHECK_UNITS = 5_000_000;

/** The work of reading one schema, at most. Registered schemas have tighter limits, see `schema-limits.ts`. */
const READ_UNITS = 2_000_000;

const TOO_MUCH = "does not match: its schema refers to itself without end, or asks for too much work";

/** Throws `validation_error` for a schema that is not valid or refers to something outside itself. */
export function compileSchema(schema: SchemaObject, where: string): CompiledSchema {
  const document = documentOf(schema, where);
  return (value) => {
    const deferral = currentDeferral();
    return deferral === undefined ? resultOf(document, value) : resultOrDeferral(deferral, document, value);
  };
}

/** A check without a thread: a value that would take more than some tens of milliseconds does not match. */
export function checkHere(schema: SchemaObject, where: string, value: unknown): Problem[] {
  return resultOf(documentOf(schema, where), value, HERE_UNITS);
}

const HERE_UNITS = 500_000;

/** The problems of a value, within the work of a check. */
function resultOf(document: SchemaDocument, value: unknown, units = CHECK_UNITS): Problem[] {
  try {
    return problemsOf(document, value, new WorkBudget(units));
  } catch (error) {
    if (isTooCostly(error)) return [{ path: "", problem: TOO_MUCH }];
    throw error;
  }
}

/** The same, with a long check left to the caller of the decision, see `schema-deferral.ts`. */
function resultOrDeferral(deferral: Deferral, document: SchemaDocument, value: unknown): Problem[] {
  const known = deferral.known(document.root, value);
  if (known !== undefined) return [...known];
  const budget = new WorkBudget(deferral.unitsHere);
  try {
    return problemsOf(document, value, budget);
  } catch (error) {
    if (error instanceof OutOfWork && !deferral.isFull) throw new CheckElsewhere(document.root, value);
    if (isTooCostly(error)) return [{ path: "", problem: TOO_MUCH }];
    throw error;
  } finally {
    deferral.spend(budget.spent);
  }
}

function problemsOf(document: SchemaDocument, value: unknown, budget: WorkBudget): Problem[] {
  const evaluation = new Evaluation(document, budget);
  const held = evaluation.holds(document.root, value, undefined, undefined, evaluation.newEvaluated());
  return held ? [] : evaluation.problems;
}

function isTooCostly(error: unknown): boolean {
  // A value may be nested deeper than the stack of the thread allows.
  return error instanceof TooCostly || error instanceof RangeError;
}

/** Cached documents, by schema and by its text: gates bring the same schema with each answer. */
const KEPT_MAX = 100;
const byText = new Map<string, SchemaDocument>();
const byObject = new WeakMap<SchemaObject, SchemaDocument>();

function documentOf(schema: SchemaObject, where: string): SchemaDocument {
  const known = byObject.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema);
  const document = byText.get(text) ?? read(schema, where);
  // The least recently used document is the first.
  byText.delete(text);
  byText.set(text, document);
  if (byText.size > KEPT_MAX) byText.delete(byText.keys().next().value ?? "");
  byObject.set(schema, document);
  return document;
}

function read(schema: SchemaObject, where: string): SchemaDocument {
  try {
    return new SchemaDocument(schema, new WorkBudget(READ_UNITS));
  } catch (error) {
    if (!(error instanceof UnusableSchema || error instanceof AppError || isTooCostly(error))) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    throw validationError(`${where} is not a usable JSON Schema: ${problem}`);
  }
}
