import { closestTo } from "../../../protocol/closest-to.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { WorkflowDefinition } from "../../../protocol/workflows/workflow.ts";

/**
 * Refuses inputs that a workflow which declares its inputs does not know: a mistyped name would leave the default in place without a
 * word. Only for requests. A workflow without variables takes any inputs, and so does a run that a node starts: what a
 * parent maps to a child is written in the parent, and the published sub-workflows depend on it.
 */
export function checkInputNames(definition: WorkflowDefinition, inputs: Readonly<Record<string, unknown>>): void {
  if (definition.variables.length === 0) return;
  const known = definition.variables.map(({ name }) => name);
  const declared = new Set(known);
  const undeclared = Object.keys(inputs).filter((name) => !declared.has(name));
  if (undeclared.length === 0) return;
  const read = namesRead(definition);
  const problems = undeclared
    .filter((name) => !read.has(name))
    .slice(0, PROBLEMS_MAX)
    .map((name) => ({ path: `/inputs/${name}`, problem: problemWith(name, definition.id, known) }));
  const [first] = problems;
  if (first !== undefined) throw new AppError("validation_error", { problem: first.problem, problems, inputs: known });
}

/** Problems that an answer names: a request may have a hundred thousand inputs. */
const PROBLEMS_MAX = 10;

/** Inputs that each of these lists; the answer has all of them once. */
const LISTED_MAX = 50;

/** Names that expressions read. */
const READ = /\bvariables(?:\.(\w+)|\["([^"]+)"\])/g;

/** Variables that a node or an edge reads although they are not declared: by name, as mappings do, or in an expression. */
function namesRead({ nodes, edges }: WorkflowDefinition): ReadonlySet<string> {
  const values = [...nodes.map(({ config, inputs }) => [config, inputs]), ...edges.map(({ condition }) => condition)];
  const names = new Set<string>();
  for (const text of values.flatMap(stringsIn)) {
    names.add(text);
    for (const [, word, quoted] of text.matchAll(READ)) names.add(word ?? quoted ?? "");
  }
  return names;
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function problemWith(name: string, workflowId: string, known: readonly string[]): string {
  const nearest = closestTo(name, known);
  const meant = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
  const listed = [...known.slice(0, LISTED_MAX), ...(known.length > LISTED_MAX ? ["…"] : [])].join(", ");
  return `inputs.${name} is no input of workflow ${workflowId}${meant}; its inputs are ${listed}`;
}
