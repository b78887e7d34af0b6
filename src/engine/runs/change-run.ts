import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type {
  BulkCancelRequest,
  BulkCancelResponse,
  CancelRunRequest,
  CancelRunResponse,
  PauseRunRequest,
  PauseRunResponse,
  ResumeRunRequest,
  ResumeRunResponse,
} from "../../protocol/runs/api.ts";
import { execute, type Recorder } from "../execute.ts";
import type { Host } from "../host.ts";
import { roomOf } from "../worker/run-room.ts";
import { cancelRun as decideCancel, requestCancel } from "./decide/cancel-run.ts";
import { pauseRun as decidePause } from "./decide/pause-run.ts";
import { resumeRun as decideResume } from "./decide/resume-run.ts";

interface Change<Request, Response> {
  readonly caller: Caller;
  readonly runId: string;
  readonly request: Request;
  readonly record: Recorder<Response>;
}

export function cancelRun(
  host: Host,
  { caller, runId, request, record }: Change<CancelRunRequest, CancelRunResponse>,
): Promise<CancelRunResponse> {
  const reason = cleanReason(host, request);
  return execute(host, {
    caller,
    runId,
    decide: (run) => decideCancel(run, { by: caller.principal, ...reason }),
    decideAlone: (run) => requestCancel(run, { by: caller.principal, ...reason }),
    result: (run) => ({ runId, status: run.status }),
    audit: () => ({ action: "run.cancelled", details: {} }),
    record,
  });
}

/** A reason is part of the log, and so of streams, webhooks and exports. */
function cleanReason({ scrubber }: Host, { reason }: { readonly reason?: string }): { readonly reason?: string } {
  return reason === undefined ? {} : { reason: scrubber.scrubText(reason) };
}

/**
 * One of the runs that a request is about. Its room is given back when it is done: the room of a request is kept until its answer is
 * sent, and a request about many large runs would wait for itself.
 */
export async function withRoomOfItsOwn<T>(
  host: Host,
  caller: Caller,
  work: (caller: Caller) => Promise<T>,
): Promise<T> {
  const releases: (() => void)[] = [];
  const beforeLargeRead = async (bytes: number) => void releases.push(await roomOf(host).read(bytes));
  try {
    return await work({ ...caller, beforeLargeRead });
  } finally {
    for (const release of releases) release();
  }
}

const MANY_AT_ONCE = 16;

/**
 * One result per id, in order, whatever happens to the others. Ended runs other than cancelled ones are refused. Parents
 * come before their children: a child that is cancelled by itself may fail its parent.
 */
export async function bulkCancelRuns(
  host: Host,
  caller: Caller,
  request: BulkCancelRequest,
): Promise<BulkCancelResponse> {
  const cancelOne = async (runId: string) => {
    try {
      const reason = defined({ reason: request.reason });
      const cancel = (own: Caller) => cancelRun(host, { caller: own, runId, request: reason, record: () => undefined });
      const { status } = await withRoomOfItsOwn(host, caller, cancel);
      if (status === "completed" || status === "failed")
        throw new AppError("run_terminal", { runId, runStatus: status });
      return { runId, ok: true, status };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, message } = error;
      // Cleaned like any other error: what is no id of a run may be a secret, and answers are kept under an idempotency key.
      return host.scrubber.scrubValue({ runId, ok: false, error: { code, message } });
    }
  };
  const { runIds } = request;
  const depthOf = (runId: string) =>
    withRoomOfItsOwn(host, caller, async (own) => (await host.store.readRun(own, runId))?.parent?.depth ?? 0);
  const depths = await Promise.all(runIds.map(depthOf));
  const results = new Array<BulkCancelResponse["results"][number]>(runIds.length);
  for (const depth of [...new Set(depths)].sort((a, b) => a - b)) {
    const level = [...runIds.entries()].filter(([i]) => depths[i] === depth);
    for (let from = 0; from < level.length; from += MANY_AT_ONCE) {
      const some = level.slice(from, from + MANY_AT_ONCE);
      await Promise.all(
        some.map(async ([i, runId]) => {
          results[i] = await cancelOne(runId);
        }),
      );
    }
  }
  return { results };
}

export function pauseRun(
  host: Host,
  { caller, runId, request, record }: Change<PauseRunRequest, PauseRunResponse>,
): Promise<PauseRunResponse> {
  const { drainPolicy = "drain-current-node" } = request;
  const reason = cleanReason(host, request);
  return execute<PauseRunResponse>(host, {
    caller,
    runId,
    decide: (run) => decidePause(run, { by: caller.principal, drainPolicy, ...reason }),
    result: (run) => ({
      runId,
      status: "paused",
      ...defined({ pausedAt: run.pausedAt }),
    }),
    audit: () => ({ action: "run.paused", details: { drainPolicy } }),
    record,
  });
}

export function resumeRun(
  host: Host,
  { caller, runId, request, record }: Change<ResumeRunRequest, ResumeRunResponse>,
): Promise<ResumeRunResponse> {
  const reason = cleanReason(host, request);
  return execute<ResumeRunResponse>(host, {
    caller,
    runId,
    decide: (run) => decideResume(run, { by: caller.principal, ...reason }),
    result: (run) => ({ runId, status: "running", resumedAt: run.updatedAt }),
    audit: () => ({ action: "run.resumed", details: {} }),
    record,
  });
}
