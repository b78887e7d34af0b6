import { closestTo } from "../../protocol/closest-to.ts";
import { AppError } from "../../protocol/errors.ts";
import type { WorkflowDefinition } from "../../protocol/workflow.ts";

/**
 * Refuses inputs that a workflow which declares its inputs does not know: a mistyped name would leave the default in place without a
 * word. Only for requests. A workflow without variables takes any inputs, and so does a run that a node starts: what a
 * parent maps to a child is written in the parent, and the published sub-workflows depend on it.
 */
export function checkInputNames(definition: WorkflowDefinition, inputs: Readonly<Record<string, unknown>>): void {
  if (definition.variables.length === 0) return;
  const known = definition.variables.map(({ name }) => name);
  const problems = Object.keys(inputs)
    .filter((name) => !known.includes(name) && !isRead(name, definition))
    .map((name) => ({ path: `/inputs/${name}`, problem: problemWith(name, definition.id, known) }));
  const [first] = problems;
  if (first !== undefined) throw new AppError("validation_error", { problem: first.problem, problems, inputs: known });
}

/** Names that expressions read. */
const READ = /\bvariables(?:\.(\w+)|\["([^"]+)"\])/g;

/** Whether a node or an edge reads the variable although it is not declared: by name, as mappings do, or in an expression. */
function isRead(name: string, { nodes, edges }: WorkflowDefinition): boolean {
  const texts = [...nodes.map(({ config, inputs }) => [config, inputs]), ...edges.map(({ condition }) => condition)];
  return texts
    .flatMap(stringsIn)
    .some((text) => text === name || [...text.matchAll(READ)].some(([, word, quoted]) => (word ?? quoted) === name));
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function problemWith(name: string, workflowId: string, known: readonly string[]): string {
  const nearest = closestTo(name, known);
  const meant = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
  return `inputs.${name} is no input of workflow ${workflowId}${meant}; its inputs are ${known.join(", ")}`;
}
