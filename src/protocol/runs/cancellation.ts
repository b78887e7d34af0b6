import type { PayloadOf } from "../events.ts";

/** `parentRunId` and `parentNodeId` in a cascade only. */
export interface Cancellation {
  readonly by: string;
  readonly reason?: string;
  readonly parentRunId?: string;
  readonly parentNodeId?: string;
}

export function cancellationOf({
  cancelledBy,
  reason,
  parentRunId,
  parentNodeId,
}: PayloadOf<"run.cancelled">): Cancellation {
  return {
    by: cancelledBy ?? "unknown",
    ...(reason === undefined ? {} : { reason }),
    ...(parentRunId === undefined ? {} : { parentRunId }),
    ...(parentNodeId === undefined ? {} : { parentNodeId }),
  };
}
