import type { ServerResponse } from "node:http";
import type { Host } from "../../engine/host.ts";
import { sizeOf } from "../../engine/runs/run-size.ts";
import { isHeadOnly } from "../../engine/runs/too-large.ts";
import { roomOf } from "../../engine/worker/run-room.ts";
import { AppError } from "../../protocol/errors.ts";
import { OPERATIONS } from "../../protocol/operations.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { parse } from "../../protocol/schema.ts";
import { callerOf, type Handler, replyOf, runOf } from "../pipeline/handler.ts";
import type { RunFeeds } from "./run-feeds.ts";
import { sendEvents } from "./send-events.ts";
import { parseStreamMode } from "./stream-mode.ts";

/** `GET /v1/runs/{runId}/events`: the backlog and then what happens, as server-sent events; or the log as JSON. */
export function streamEvents(feeds: RunFeeds): Handler {
  return async (context) => {
    const { headers } = context;
    const { streamMode, bufferMs = 0 } = parse(OPERATIONS.streamEvents.query, context.query, "query");
    const modes = parseStreamMode(streamMode);
    const caller = callerOf(context);
    const run = runOf(context);
    const { runId } = run;
    // Whether the caller may see the run is decided before its cursor is looked at.
    const after = lastEventId(headers["last-event-id"]);
    if (prefersJson(headers.accept)) {
      const wholeLog = { runId, from: 0, to: run.version, before: '{"events":[', after: "]}" };
      return sendEvents(context, feeds, wholeLog);
    }
    feeds.checkRoom(caller.tenant);
    await feeds.ready(caller.tenant);
    const reply = replyOf(context);
    if (modes.key === "values") followRoom(context.host, run, reply.raw);
    reply.hijack();
    feeds.open({
      runId,
      visible: caller,
      modes,
      bufferMs,
      after,
      version: run.version,
      response: reply.raw,
    });
    return "hijacked";
  };
}

/** A stream of values keeps the run while it is open. */
function followRoom(host: Host, run: Run, response: ServerResponse): void {
  const room = roomOf(host);
  const { runId, stateOmitted } = run;
  if (stateOmitted !== undefined && isHeadOnly(run)) {
    // What changes next could not be shown: the sensitive values of the run are not known.
    throw new AppError("run_too_large", { runId, bytes: stateOmitted.bytes, limitBytes: room.maxLoadBytes });
  }
  const release = room.follow(sizeOf(run, room.maxRunBytes));
  if (response.destroyed) release();
  else response.once("close", release);
}

/** Any integer of any size is a cursor; one past the end only means that there is no backlog. */
function lastEventId(raw: string | readonly string[] | undefined): number {
  if (raw === undefined) return -1;
  if (typeof raw === "string" && /^\d+$/.test(raw)) return Number(raw);
  throw new AppError("validation_error", { problem: "Last-Event-ID must be a sequence: an integer, 0 or larger" });
}

function prefersJson(accept = ""): boolean {
  const types = accept.split(",").map((range) => range.split(";")[0]?.trim().toLowerCase());
  return types.includes("application/json") && !types.includes("text/event-stream");
}
