import { defined } from "../../protocol/defined.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type {
  CancelRunRequest,
  CancelRunResponse,
  PauseRunRequest,
  PauseRunResponse,
  ResumeRunRequest,
  ResumeRunResponse,
} from "../../protocol/runs/api.ts";
import { execute, type Recorder } from "../execute.ts";
import type { Host } from "../host.ts";
import { cancelRun as decideCancel, requestCancel } from "./decide/end-run.ts";
import { pauseRun as decidePause, resumeRun as decideResume } from "./decide/pause-run.ts";

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

/** Reasons are scrubbed: they are part of the log, and so of streams, webhooks and exports. */
function cleanReason({ scrubber }: Host, { reason }: { readonly reason?: string }): { readonly reason?: string } {
  return reason === undefined ? {} : { reason: scrubber.scrubText(reason) };
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
    result: (run) => ({ runId, status: "paused", ...defined({ pausedAt: run.pausedAt }) }),
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
