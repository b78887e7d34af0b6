import { wantedBy } from "../../engine/judgments/annotation-filter.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AnnotationFilter } from "../../protocol/judgments/annotation-api.ts";
import { callerOf, type Handler, type Reply, replyOf } from "../pipeline/handler.ts";
import type { JudgmentFeeds } from "./judgment-feeds.ts";
import { placeAfter } from "./judgment-places.ts";

const ID_MAX = 512;

/** `GET /v1/host/assay/annotations/events`: whatever happens to judgments from now on, or since the last one was heard of. */
export function streamJudgments(feeds: JudgmentFeeds): Handler {
  return async (context): Promise<Reply> => {
    const { host, headers } = context;
    const caller = callerOf(context);
    const wanted = wantedBy(context.query as AnnotationFilter);
    feeds.checkRoom(caller.tenant);
    const place = await placeAfter(host.store, caller.tenant, lastEventId(headers["last-event-id"]));
    feeds.checkRoom(caller.tenant);
    const reply = replyOf(context);
    reply.hijack();
    feeds.open({ caller, wanted, place, response: reply.raw });
    return "hijacked";
  };
}

function lastEventId(raw: string | readonly string[] | undefined): string | undefined {
  if (raw === undefined || (typeof raw === "string" && /^[!-~]+$/.test(raw) && raw.length <= ID_MAX)) return raw;
  throw new AppError("validation_error", { problem: "Last-Event-ID must be the id of a frame of this stream" });
}
