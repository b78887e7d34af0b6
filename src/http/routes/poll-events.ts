import { visibleRun } from "../../engine/execute.ts";
import type { AppError } from "../../protocol/errors.ts";
import { OPERATIONS } from "../../protocol/operations.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { parse } from "../../protocol/schema.ts";
import { callerOf, type Handler, type RequestContext, replyOf, runOf } from "../pipeline/handler.ts";
import type { RunFeeds } from "../streams/run-feeds.ts";
import { sendEvents } from "../streams/send-events.ts";

const TIMEOUT_SECONDS = 30;

/**
 * `GET /v1/runs/{runId}/events/poll`: what is in the log after a sequence; waits when there is nothing yet.
 *
 * The answer describes one version of the run: its status, its highest sequence, and every event up to it. It is not
 * cut short however long it is, because a client that went on from `lastSequence` would lose what was left out.
 */
export function pollEvents(feeds: RunFeeds): Handler {
  return async (context) => {
    const query = parse(OPERATIONS.pollEvents.query, context.query, "query");
    const { lastSequence, since, timeout = TIMEOUT_SECONDS } = query;
    const from = (lastSequence ?? since ?? -1) + 1;
    const { runId = "" } = context.params;
    const caller = callerOf(context);
    const read = () => visibleRun(context.host, caller, runId);
    const done = (run: Run) => run.version > from || isTerminal(run.status);

    let run = runOf(context);
    if (!done(run)) {
      run = await whileWanted(context, timeout * 1000, (stop) => feeds.changes.until(runId, stop, read, done));
    }
    const over = isTerminal(run.status);
    return sendEvents(context, feeds, {
      runId,
      from,
      to: run.version,
      before: `{"runId":${JSON.stringify(runId)},"events":[`,
      after: `],"isComplete":${over},"isTerminal":${over},"lastSequence":${run.version - 1},"status":"${run.status}"}`,
    });
  };
}

/** Stops when the time is over or the client has gone; throws when its key has ended. */
async function whileWanted<T>(
  context: RequestContext,
  timeoutMs: number,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const timer = setTimeout(stop, timeoutMs);
  let ended: AppError | undefined;
  const { raw } = replyOf(context);
  const unwatch = context.watchKey((error) => {
    ended = error;
    stop();
  });
  raw.once("close", stop);
  // Gone already: there will be no second `close`.
  if (raw.destroyed) stop();
  try {
    const answer = await work(controller.signal);
    if (ended !== undefined) throw ended;
    return answer;
  } finally {
    unwatch();
    clearTimeout(timer);
    raw.off("close", stop);
  }
}
