import type { Child } from "../evolve/children.ts";
import type { Run } from "./run.ts";

/**
 * The members of a run that stay small however much the run holds. A host reads them of a run whose state it has too little memory for.
 * Nothing a sensitive value may have been copied to is among them: the list of such values is not read either.
 */
export const HEAD_MEMBERS = [
  "runId",
  "workflowId",
  "workflowHash",
  "owner",
  "status",
  "version",
  "engineVersion",
  "eventLogSchemaVersion",
  "startedAt",
  "endedAt",
  "updatedAt",
  "executions",
  "limits",
  "agent",
  "parent",
  "forkedFrom",
  "startedBy",
  "starters",
  "trace",
  "pausedAt",
  "cancel",
  "error",
] as const satisfies readonly (keyof Run)[];

/** The members of a child in the head of its parent: all but its result. */
export const CHILD_MEMBERS = [
  "nodeId",
  "visit",
  "workflowId",
  "status",
  "waits",
  "propagates",
  "takes",
  "chain",
] as const satisfies readonly (keyof Child)[];

type Members = Readonly<Record<string, unknown>>;

/** The head of a run from some of its members; `bytes` is the length of its state as JSON. */
export function headOf(run: Members, children: readonly (readonly [string, Members])[], bytes: number): Run {
  return {
    ...present(run, HEAD_MEMBERS),
    variables: {},
    nodes: {},
    channels: {},
    pins: {},
    loops: {},
    visits: {},
    interrupts: {},
    children: Object.fromEntries(children.map(([runId, child]) => [runId, present(child, CHILD_MEMBERS)])),
    stateOmitted: { bytes },
  } as object as Run;
}

/** The run after its state was dropped: the same head that is read of it before. */
export function withoutState(run: Run, bytes: number): Run {
  return headOf(run as object as Members, Object.entries(run.children) as object as [string, Members][], bytes);
}

function present(from: Members, names: readonly string[]): Members {
  const found = names.map((name) => [name, from[name]] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined && value !== null));
}
