/** Words and limits that commands need without a schema: loading schemas takes longer than most commands. */

/** Stands for a secret that was removed from a text. */
export const MASK = "[REDACTED]";

export function endsRun(type: string): boolean {
  return type === "run.completed" || type === "run.failed" || type === "run.cancelled";
}

/** The workflow of every run that came as a tape. It cannot be started, and its name is reserved. */
export const RECORDED_WORKFLOW_ID = "recorded-tape";

/** The status of a recorded run: it can be read and judged, and is never executed. */
export function isRecorded({ workflowId }: { readonly workflowId: string }): boolean {
  return workflowId === RECORDED_WORKFLOW_ID;
}

/** The largest number of rows in a sidecar that a server takes. */
export const MAX_SIDECAR_ROWS = 50_000;
