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
  const known = knownNames(definition);
  const problems = Object.keys(inputs)
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: `/inputs/${name}`, problem: problemWith(name, definition.id, known) }));
  const [first] = problems;
  if (first !== undefined) throw new AppError("validation_error", { problem: first.problem, problems, inputs: known });
}

/** Declared, or read by a port of a node. */
function knownNames({ variables, nodes }: WorkflowDefinition): string[] {
  const read = nodes.flatMap(({ inputs }) =>
    Object.values(inputs).flatMap((from) => (from.type === "variable" ? [from.variableName] : [])),
  );
  return [...new Set([...variables.map(({ name }) => name), ...read])];
}

function problemWith(name: string, workflowId: string, known: readonly string[]): string {
  const nearest = closestTo(name, known);
  const meant = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
  return `inputs.${name} is no input of workflow ${workflowId}${meant}; its inputs are ${known.join(", ")}`;
}
