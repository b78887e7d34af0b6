import { Type } from "../schema.ts";

export const RUN_STATUSES = [
  "pending",
  "running",
  "paused",
  "waiting-approval",
  "waiting-input",
  "waiting-external",
  "completed",
  "failed",
  "cancelling",
  "cancelled",
] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

export const RunStatusSchema = Type.Enum([...RUN_STATUSES]);

export function isTerminal(status: RunStatus): status is "completed" | "failed" | "cancelled" {
  return status === "completed" || status === "failed" || status === "cancelled";
}

export function isWaiting(status: RunStatus): boolean {
  return status.startsWith("waiting-");
}

/** The effect of a pause on nodes that are executing. */
export const DRAIN_POLICIES = ["immediate", "drain-current-node"] as const;
export type DrainPolicy = (typeof DRAIN_POLICIES)[number];
