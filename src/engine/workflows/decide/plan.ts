import { defined } from "../../../protocol/defined.ts";
import { validationError } from "../../../protocol/errors.ts";
import type { Sensitivity } from "../../../protocol/runs/snapshot.ts";
import type { WorkflowDefinition } from "../../../protocol/workflows/workflow.ts";
import { type CompiledSchema, compileSchema } from "../../schemas/decide/json-schema.ts";
import { buildGraph, type Graph } from "./graph.ts";

/** A definition with its graph, compiled schemas and masks, by content hash. */
export interface Plan {
  readonly hash: string;
  readonly definition: WorkflowDefinition;
  readonly graph: Graph;
  readonly sensitivity: Sensitivity;
  readonly configurable?: CompiledSchema;
  readonly channelSchemas: ReadonlyMap<string, CompiledSchema>;
}

/** Throws `validation_error` for problems that the schema of definitions does not cover. */
export function makePlan(hash: string, definition: WorkflowDefinition): Plan {
  const graph = buildGraph(definition);
  const names = new Set<string>();
  for (const variable of definition.variables) {
    if (names.has(variable.name)) throw validationError(`two variables are named "${variable.name}"`);
    names.add(variable.name);
  }
  const channelSchemas = new Map<string, CompiledSchema>();
  for (const [name, channel] of Object.entries(definition.channels ?? {})) {
    if (channel.reducer.startsWith("vendor.")) {
      throw validationError(
        `channel "${name}" uses reducer ${channel.reducer}; this host serves the built-in reducers only`,
      );
    }
    if (channel.schema) channelSchemas.set(name, compileSchema(channel.schema, `the schema of channel "${name}"`));
  }
  const { configurableSchema } = definition;
  const configurable = configurableSchema && compileSchema(configurableSchema, "configurableSchema");
  return defined({ hash, definition, graph, sensitivity: sensitivityOf(definition), channelSchemas, configurable });
}

function sensitivityOf(definition: WorkflowDefinition): Sensitivity {
  const outputs = new Map<string, ReadonlySet<string>>();
  for (const node of definition.nodes) {
    const ports = Object.entries(node.outputSensitivity ?? {}).filter(([, masked]) => masked);
    if (ports.length > 0) outputs.set(node.id, new Set(ports.map(([port]) => port)));
  }
  return {
    variables: new Set(definition.variables.filter((one) => one.sensitive).map((one) => one.name)),
    outputs,
    ...defined({ options: definition.configurableSchema }),
  };
}

/** Whether runs of it are started: it was not registered as switched off. */
export function isStartable({ definition: { status, isActive } }: Pick<Plan, "definition">): boolean {
  return isActive !== false && (status === undefined || status === "active");
}
