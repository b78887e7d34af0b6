import type { Host } from "../../engine/host.ts";
import { createRun } from "../../engine/runs/create-run.ts";
import { registerWorkflow } from "../../engine/workflows/register-workflow.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { CreateRunRequest } from "../../protocol/runs/api.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";

/** A definition with the members that every definition has. */
export function definitionOf(
  definition: Pick<WorkflowDefinition, "id" | "name" | "nodes"> & Partial<WorkflowDefinition>,
): WorkflowDefinition {
  return {
    version: "1",
    edges: [],
    triggers: [{ id: "manual", type: "manual", enabled: true }],
    variables: [],
    metadata: {},
    settings: {},
    ...definition,
  };
}

/** The id of a new run of the definition, which is registered for the caller's tenant. */
export async function startMade(
  host: Host,
  caller: Caller,
  definition: WorkflowDefinition,
  more: Pick<CreateRunRequest, "inputs"> = {},
): Promise<string> {
  const record = () => undefined;
  await registerWorkflow(host, { caller, definition, text: JSON.stringify(definition), record });
  const request = { workflowId: definition.id, ...more };
  return (await createRun(host, { caller, request, dedup: false, record })).runId;
}

const POLL_MS = 10;

interface Waiting {
  readonly limitMs: number;
  /** The reason of the refusal when the run is not there in time, as where no worker runs. */
  readonly reason: string;
}

/** The run once it is as wanted, or has ended. */
export async function untilRun(
  host: Host,
  caller: Caller,
  runId: string,
  wanted: (run: Run) => boolean,
  { limitMs, reason }: Waiting,
): Promise<Run> {
  const untilMs = host.nowMs() + limitMs;
  for (;;) {
    const run = await host.store.readRun(caller, runId);
    if (run !== undefined && (wanted(run) || isTerminal(run.status))) return run;
    if (run === undefined || host.nowMs() > untilMs) throw new AppError("unavailable", { reason });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export function hasEnded({ status }: Run): boolean {
  return isTerminal(status);
}
