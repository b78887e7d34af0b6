import { closestTo } from "../../../protocol/closest-to.ts";
import { defined } from "../../../protocol/defined.ts";
import { validationError } from "../../../protocol/errors.ts";
import { ENGINE_VERSION, type EventDraft } from "../../../protocol/events.ts";
import type { Owner } from "../../../protocol/identity/identity.ts";
import type { CreateRunRequest } from "../../../protocol/runs/api.ts";
import type { Parent } from "../../../protocol/runs/run.ts";
import { maskFields } from "../../../protocol/runs/snapshot.ts";
import type { WorkflowDefinition, WorkflowVariable } from "../../../protocol/workflows/workflow.ts";
import type { Plan } from "../../workflows/decide/plan.ts";

interface StartRun {
  readonly request: CreateRunRequest;
  readonly owner: Owner;
  readonly limits: RunLimits;
  /** The node that dispatches the run, if any. */
  readonly parent?: Parent;
  /** Variables without a value, not even their default. */
  readonly unset?: readonly string[];
}

/** The limits of the host. */
export interface RunLimits {
  readonly maxNodeExecutions: number;
  readonly maxRunDurationMs?: number;
  /** Runs of a tenant that have not ended. */
  readonly maxActiveRuns?: number;
  /** Runs started below one root run. */
  readonly maxDescendants?: number;
}

/** The first event of a run. Throws `validation_error` before anything exists. */
export function startRun(plan: Plan, command: StartRun): Extract<EventDraft, { type: "run.started" }> {
  const { request, owner, parent, unset = [] } = command;
  const configurable = request.configurable ?? {};
  checkConfigurable(plan, configurable);
  const inputs = request.inputs ?? {};
  const variables = plan.definition.variables.map((one) => (unset.includes(one.name) ? withoutDefault(one) : one));
  checkInputs(variables, inputs);
  const payload = {
    workflowId: plan.definition.id,
    workflowHash: plan.hash,
    inputs,
    defaults: defaultsOf(variables, inputs),
    transport: "rest" as const,
    engineVersion: String(ENGINE_VERSION),
    owner,
    limits: runLimits(plan, configurable, command.limits),
    ...(request.configurable && { configurable }),
    ...defined({ tags: request.tags, metadata: request.metadata, callbackUrl: request.callbackUrl }),
    ...(parent && linkTo(parent)),
  };
  const masked = plan.sensitivity.variables;
  if (masked.size === 0) return { type: "run.started", payload };
  const shown = { ...payload, inputs: maskFields(inputs, masked), defaults: maskFields(payload.defaults, masked) };
  return { type: "run.started", payload: shown, sealed: payload };
}

export function checkConfigurable(plan: Plan, configurable: Readonly<Record<string, unknown>>): void {
  const problems = plan.configurable?.(configurable) ?? [];
  if (problems.length === 0) return;
  throw validationError(
    `configurable${problems[0]?.path ?? ""} ${problems[0]?.problem ?? "does not match configurableSchema"}`,
    { problems: problems.map(({ path, problem }) => ({ path: `/configurable${path}`, problem })) },
  );
}

function linkTo({ runId: parentRunId, nodeId: parentNodeId, rootRunId, depth }: Parent) {
  return { parentRunId, parentNodeId, rootRunId, depth };
}

function withoutDefault({ defaultValue: _, ...variable }: WorkflowVariable): WorkflowVariable {
  return variable;
}

export function checkInputs(variables: readonly WorkflowVariable[], inputs: Readonly<Record<string, unknown>>): void {
  for (const variable of variables) {
    const given = Object.hasOwn(inputs, variable.name);
    if (!given) {
      if (variable.required && variable.defaultValue === undefined) {
        refuse(`inputs.${variable.name} is required by the workflow`, `/inputs/${variable.name}`);
      }
      continue;
    }
    if (typeName(inputs[variable.name]) !== variable.type) {
      refuse(`inputs.${variable.name} must be of type ${variable.type}`, `/inputs/${variable.name}`);
    }
  }
}

function refuse(problem: string, path: string): never {
  throw validationError(problem, { problems: [{ path, problem }] });
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** The defaults of variables without an input: the variables of a run are these and its inputs. */
function defaultsOf(
  variables: readonly WorkflowVariable[],
  inputs: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const unset = variables.filter(
    ({ name, defaultValue }) => defaultValue !== undefined && !Object.hasOwn(inputs, name),
  );
  return Object.fromEntries(unset.map(({ name, defaultValue }) => [name, defaultValue]));
}

export function runLimits(plan: Plan, configurable: Readonly<Record<string, unknown>>, host: RunLimits) {
  const recursionLimit = numberOr(configurable["recursionLimit"]);
  const durations = [
    numberOr(configurable["runTimeoutMs"]),
    host.maxRunDurationMs ?? Number.POSITIVE_INFINITY,
    plan.definition.settings.timeout || Number.POSITIVE_INFINITY,
  ];
  const runDurationMs = Math.min(...durations);
  return {
    nodeExecutions: Math.min(recursionLimit, host.maxNodeExecutions),
    ...(Number.isFinite(runDurationMs) ? { runDurationMs } : {}),
  };
}

function numberOr(value: unknown): number {
  return typeof value === "number" ? value : Number.POSITIVE_INFINITY;
}

/**
 * Refuses inputs of a request that the workflow neither declares nor reads: a mistyped name would silently leave the default in place. A workflow
 * without variables takes any inputs, and so does a run that a node starts: the published sub-workflows depend on that.
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
    .map((name) => ({ path: `/inputs/${name}`, problem: unknownInput(name, definition.id, known) }));
  const [first] = problems;
  if (first !== undefined) throw validationError(first.problem, { problems, inputs: known });
}

/** Problems that an error names: a request may have a hundred thousand inputs. */
const PROBLEMS_MAX = 10;

/** Inputs that each problem lists; the error has all of them once. */
const LISTED_MAX = 50;

/** Names that expressions read. */
const READ = /\bvariables(?:\.(\w+)|\["([^"]+)"\])/g;

/** Names of variables that nodes and edges may read: all texts, because mappings use names, and variables in expressions. */
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

function unknownInput(name: string, workflowId: string, known: readonly string[]): string {
  const nearest = closestTo(name, known);
  const meant = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
  const listed = [...known.slice(0, LISTED_MAX), ...(known.length > LISTED_MAX ? ["…"] : [])].join(", ");
  return `inputs.${name} is no input of workflow ${workflowId}${meant}; its inputs are ${listed}`;
}
