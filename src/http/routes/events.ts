import type { ServerResponse } from "node:http";
import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { wantedBy } from "../../engine/judgments/annotation-filter.ts";
import { type EventRange, eventPages } from "../../engine/runs/read-log.ts";
import { sizeOf } from "../../engine/runs/run-size.ts";
import { isHeadOnly } from "../../engine/runs/too-large.ts";
import { roomOf } from "../../engine/worker/run-room.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { OPERATIONS } from "../../protocol/operations.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Store } from "../../store/port/store.ts";
import { type HandlerOf, type RequestContext, replyOf } from "../pipeline/handler.ts";
import type { Reply } from "../pipeline/reply.ts";
import { sendList } from "../pipeline/send-list.ts";
import { placeAfter } from "../streams/change-feed.ts";
import { parseStreamMode } from "../streams/event-frames.ts";
import { InboxFeeds } from "../streams/inbox-feeds.ts";
import type { JudgmentFeeds } from "../streams/judgment-feeds.ts";
import { RunFeeds, type RunFeedsOptions } from "../streams/run-feeds.ts";
import type { Sample } from "./metrics.ts";

type Operations = typeof OPERATIONS;

export interface EventRoutes {
  readonly streamEvents: HandlerOf<Operations["streamEvents"]>;
  readonly pollEvents: HandlerOf<Operations["pollEvents"]>;
  readonly streamInbox: HandlerOf<Operations["streamInbox"]>;
  readonly streamJudgments: HandlerOf<Operations["streamJudgments"]>;
  openStreams(): number;
  /** Ends streams and waiting polls in a way their clients can resume from. */
  close(): void | Promise<void>;
}

/** The routes that follow runs, the inbox and judgments. Their streams are counted together. */
export function eventRoutes(host: Host, options: RunFeedsOptions): EventRoutes & { samples(): readonly Sample[] } {
  const feeds = new RunFeeds(host, options);
  const inboxes = new InboxFeeds(host, feeds);
  return {
    streamEvents: streamEvents(feeds),
    pollEvents: pollEvents(feeds),
    streamInbox: streamInbox(inboxes),
    streamJudgments: streamJudgments(feeds.judgments),
    openStreams: () => feeds.counts().openStreams,
    close: () => {
      feeds.closeAll();
      inboxes.closeAll();
    },
    samples: () => samplesOf(feeds),
  };
}

/** The open streams themselves are a sample of the metrics route. */
function samplesOf(feeds: RunFeeds): Sample[] {
  const { laggingStreams, framesSent } = feeds.counts();
  return [
    {
      name: "assay_event_streams_lagging",
      help: "Event streams whose reader is slow and that are fed from the store.",
      type: "gauge",
      value: laggingStreams,
    },
    {
      name: "assay_event_stream_frames_total",
      help: "Frames sent to event streams, without comments.",
      type: "counter",
      value: framesSent,
    },
  ];
}

/** `GET /v1/runs/{runId}/events`: the backlog, then every new event, as server-sent events; or the log as JSON. */
export function streamEvents(feeds: RunFeeds): HandlerOf<Operations["streamEvents"]> {
  return async (context) => {
    const { headers, caller, run, query } = context;
    const { streamMode, bufferMs = 0 } = query;
    const modes = parseStreamMode(streamMode);
    const { runId } = run;
    // Whether the caller may see the run is decided before its cursor is read.
    const after = lastSequence(headers["last-event-id"]);
    if (prefersJson(headers.accept)) {
      const wholeLog = { runId, from: 0, to: run.version, before: '{"events":[', after: "]}" };
      return sendEvents(context, feeds, wholeLog);
    }
    feeds.checkRoom(caller.tenant);
    await feeds.ready(caller.tenant);
    const reply = replyOf(context);
    if (modes.key === "values") followRoom(context.host, run, reply.raw);
    reply.hijack();
    feeds.open({ runId, visible: caller, modes, bufferMs, after, version: run.version, response: reply.raw });
    return "hijacked";
  };
}

/** A stream of values holds the run in memory while it is open. */
function followRoom(host: Host, run: Run, response: ServerResponse): void {
  const room = roomOf(host);
  const { runId, stateOmitted } = run;
  if (stateOmitted !== undefined && isHeadOnly(run)) {
    // Later snapshots could not be shown: the sensitive values of the run are not known.
    throw new AppError("run_too_large", { runId, bytes: stateOmitted.bytes, limitBytes: room.maxLoadBytes });
  }
  const release = room.follow(sizeOf(run, room.maxRunBytes));
  if (response.destroyed) release();
  else response.once("close", release);
}

/** Any integer of any size is a cursor; one past the end only means that there is no backlog. */
function lastSequence(raw: string | readonly string[] | undefined): number {
  if (raw === undefined) return -1;
  if (typeof raw === "string" && /^\d+$/.test(raw)) return Number(raw);
  throw validationError("Last-Event-ID must be a sequence: an integer, 0 or larger");
}

function prefersJson(accept = ""): boolean {
  const types = accept.split(",").map((range) => range.split(";")[0]?.trim().toLowerCase());
  return types.includes("application/json") && !types.includes("text/event-stream");
}

const TIMEOUT_SECONDS = 30;

/**
 * `GET /v1/runs/{runId}/events/poll`: the log after a sequence; waits while nothing follows it.
 *
 * The response describes one version of the run: its status, its highest sequence, and every event up to it. It is not
 * cut short however long it is, because a client that continued from `lastSequence` would lose the rest.
 */
export function pollEvents(feeds: RunFeeds): HandlerOf<Operations["pollEvents"]> {
  return async (context) => {
    const { caller, host, params, query } = context;
    const { lastSequence, since, timeout = TIMEOUT_SECONDS } = query;
    const from = (lastSequence ?? since ?? -1) + 1;
    const { runId } = params;
    const read = () => visibleRun(host, caller, runId);
    const done = (run: Run) => run.version > from || isTerminal(run.status);
    let { run } = context;
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

/** Stops at the time limit or when the client has disconnected; throws when its key is no longer admitted. */
async function whileWanted<T>(
  context: Pick<RequestContext, "reply" | "watchKey">,
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
  // Closed already: there will be no second `close`.
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

interface EventArray extends EventRange {
  /** The texts around the array's elements. */
  readonly before: string;
  readonly after: string;
}

/** A JSON response with all events of the range, from the stored texts as they are. */
function sendEvents(
  context: Pick<RequestContext, "host" | "stream">,
  { settings: { stallMs } }: Pick<RunFeeds, "settings">,
  answer: EventArray,
): Promise<Reply> {
  const { before, after } = answer;
  return sendList(context, { before, items: bodies(context.host.store, answer), after, stallMs });
}

async function* bodies(store: Store, range: EventRange): AsyncGenerator<readonly string[]> {
  for await (const page of eventPages(store, range)) yield page.map(({ body }) => body);
}

/** `GET /v1/host/assay/inbox/events`: the open interrupts of the caller, then every change. */
function streamInbox(feeds: InboxFeeds): HandlerOf<Operations["streamInbox"]> {
  return (context) => {
    const { caller, query: filter } = context;
    feeds.checkRoom(caller.tenant);
    const reply = replyOf(context);
    reply.hijack();
    feeds.open({ caller, filter, response: reply.raw });
    return "hijacked";
  };
}

/** `GET /v1/host/assay/annotations/events`: every change of a judgment from now on, or after the last one that was received. */
function streamJudgments(feeds: JudgmentFeeds): HandlerOf<Operations["streamJudgments"]> {
  return async (context) => {
    const { host, headers, caller, query } = context;
    const wanted = wantedBy(query);
    feeds.checkRoom(caller.tenant);
    const place = await placeAfter(host.store, caller.tenant, lastFrame(headers["last-event-id"]));
    feeds.checkRoom(caller.tenant);
    const reply = replyOf(context);
    reply.hijack();
    feeds.open({ caller, wanted, place, response: reply.raw });
    return "hijacked" as const;
  };
}

const ID_MAX = 512;

function lastFrame(raw: string | readonly string[] | undefined): string | undefined {
  if (raw === undefined || (typeof raw === "string" && /^[!-~]+$/.test(raw) && raw.length <= ID_MAX)) return raw;
  throw validationError("Last-Event-ID must be the id of a frame of this stream");
}
