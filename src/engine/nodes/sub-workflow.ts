import { defined } from "../../protocol/defined.ts";
import { childrenOfVisit } from "../../protocol/evolve/children.ts";
import { own } from "../../protocol/own.ts";
import { Mapping } from "../../protocol/runs/orchestrator.ts";
import { type Child, visitOf } from "../../protocol/runs/run.ts";
import type { RunErrorCode } from "../../protocol/runs/run-errors.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { type Static, Type } from "../../protocol/schema.ts";
import { WORKFLOW_ID_PATTERN } from "../../protocol/workflows/workflow.ts";
import type { NodeOutcome, NodeType } from "../worker/node-type.ts";

export const SUB_WORKFLOW = "core.subWorkflow";

const Config = Type.Object(
  {
    workflowId: Type.String({ pattern: WORKFLOW_ID_PATTERN, maxLength: 128 }),
    waitForCompletion: Type.Optional(Type.Boolean()),
    onChildFailure: Type.Optional(Type.Enum(["fail-parent", "absorb"])),
    propagateCancellation: Type.Optional(Type.Boolean()),
    inputMapping: Type.Optional(Mapping),
    outputMapping: Type.Optional(Mapping),
  },
  { additionalProperties: true },
);
type Config = Static<typeof Config>;

/** Runs another workflow as a run of its own, and by default waits for it. */
export const subWorkflow: NodeType = {
  kind: "pure",
  typeId: SUB_WORKFLOW,
  summary: "Starts a run of config.workflowId, by default waits for its end, and maps variables in and out.",
  config: Config,
  execute: ({ node, config, inputs, run }) => {
    const { workflowId, waitForCompletion = true, propagateCancellation = true } = config as Config;
    const { inputMapping = {}, outputMapping = {} } = config as Config;
    // A repeated attempt continues with the child that it has.
    const [childRunId, child] = childrenOfVisit(run.children, node.id, visitOf(run, node.id))[0] ?? [];
    if (child !== undefined && childRunId !== undefined && isTerminal(child.status)) {
      return ended(config as Config, childRunId, child);
    }
    return {
      type: "dispatch",
      ...defined({ childRunId }),
      workflowId,
      inputs: { ...inputs, ...mapped(inputMapping, run.variables) },
      inputsFrom: inputMapping,
      takes: [...new Set(Object.values(outputMapping))],
      waits: waitForCompletion,
      propagates: propagateCancellation,
    };
  },
};

function ended({ onChildFailure, outputMapping = {} }: Config, childRunId: string, child: Child): NodeOutcome {
  const { status: childStatus, result = {} } = child;
  const { outputs = {}, variables = {}, sensitive = [], error } = result;
  if (childStatus === "completed" && error === undefined) {
    const masked = maskedBy(outputMapping, sensitive);
    return {
      type: "completed",
      outputs: { childRunId, childStatus, outputs },
      variables: mapped(outputMapping, variables),
      ...(masked.length === 0 ? {} : { sensitive: masked }),
    };
  }
  const code = failureCode(child);
  const message = error?.message ?? `Run ${childRunId} of the sub-workflow was ${childStatus}.`;
  const details = defined({ childRunId, childError: error });
  if (onChildFailure === "absorb") {
    return { type: "completed", outputs: { childRunId, childStatus, error: { code, message, details } } };
  }
  return { type: "failed", error: { code, message, details } };
}

/** The error code of a child's end. A completed child fails its node where its results do not fit, or a gate at its end was not passed. */
export function failureCode({ status, result }: Pick<Child, "status" | "result">): RunErrorCode {
  if (status === "completed" && result?.error?.code === "run_too_large") return "run_too_large";
  return status === "cancelled" ? "child_cancelled" : "child_failed";
}

/** Names of variables, `{ to: from }`. */
type Names = Readonly<Record<string, string>>;

/** The mapped variables that have a value. */
export function mapped(mapping: Names, from: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const pairs = Object.entries(mapping).map(([to, name]) => [to, own(from, name)] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

/** The mapped names whose source is masked. */
export function maskedBy(mapping: Names, sensitive: readonly string[]): string[] {
  const names = new Set(sensitive);
  return Object.keys(mapping).filter((to) => names.has(mapping[to] ?? ""));
}
