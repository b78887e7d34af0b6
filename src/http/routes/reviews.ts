import { annotationView } from "../../engine/judgments/annotation-view.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { REVIEW_OPERATIONS } from "../../protocol/reviews/operations.ts";
import { answerLines } from "../../reviews/provider/stream-ids.ts";
import { DEFAULT_AGENT, type Reviewer } from "../../reviews/reviewer.ts";
import { annotateRemark } from "../../reviews/server/annotate-remark.ts";
import { type HostTurn, type TurnsUnderWay, takeHostTurn } from "../../reviews/server/host-turn.ts";
import { countReviews, listReviews } from "../../reviews/server/list-reviews.ts";
import { sessionState, showReview } from "../../reviews/server/show-review.ts";
import type { StoreBackendSettings } from "../../reviews/server/store-backend.ts";
import { deleteReview, sessionNotFound } from "../../reviews/server/stored-review.ts";
import type { TurnsApart } from "../../reviews/server/turns-apart.ts";
import type { HandlerOf, HandlersOf } from "../pipeline/handler.ts";
import { ok } from "../pipeline/reply.ts";

/** The reviewers of this host, and how long requests wait for them. */
export interface ReviewService {
  readonly reviewers: readonly Reviewer[];
  readonly backend?: Partial<StoreBackendSettings>;
  readonly reviewLimitMs?: number;
  /** Counts the turns that have to be over before the host ends. */
  readonly underWay?: TurnsUnderWay;
  /** Takes turns that would hold up all other work; without it they are taken here. */
  readonly apart?: Pick<TurnsApart, "isFor" | "take">;
}

export function reviewRoutes(service: ReviewService): HandlersOf<typeof REVIEW_OPERATIONS> {
  return {
    runReview: runReviewRoute(service),
    getReviewSession: async ({ host, caller, params }) => ok(await sessionState(host, caller, params.sessionId)),
    listReviews: async ({ host, caller, query }) => ok(await listReviews(host, caller, query)),
    getReviewAnalytics: async ({ host, caller, query }) => ok(await countReviews(host, caller, query)),
    getReview: async ({ host, caller, params }) => ok(await showReview(host, caller, params.sessionId)),
    deleteReview: async ({ host, caller, params }) => ok(await deleteReview(host, caller, params.sessionId)),
    annotateRemark: async ({ host, caller, params, body: request }) => {
      if (!host.capabilities.has("feedback")) throw new AppError("capability_not_provided", { capability: "feedback" });
      const { annotation, created } = await annotateRemark(host, { caller, ...params, request });
      return { status: created ? 201 : 200, json: { annotation: annotationView(annotation), created } };
    },
  };
}

/**
 * One turn with the provider. The turn continues when the client disconnects: nothing here checks the connection before the
 * response is written, and the same request sent again gets the response of this turn.
 */
function runReviewRoute({
  reviewers,
  backend,
  reviewLimitMs,
  underWay,
  apart,
}: ReviewService): HandlerOf<(typeof REVIEW_OPERATIONS)["runReview"]> {
  return async ({ host, bodyBytes, report, query, caller: admitted }) => {
    const { agent = DEFAULT_AGENT, session, continue: goesOn, fork } = query;
    if (isBlank(bodyBytes)) throw validationError("the body is empty; send a request", { name: "EmptyInput" });
    if (!reviewers.some((one) => one.agent === agent)) {
      throw new AppError("not_found", { what: "reviewer", known: reviewers.map((one) => one.agent), name: "NotFound" });
    }
    if (fork === "true" && session === undefined && goesOn !== "true") {
      throw validationError("fork requires session or continue");
    }
    // A function cannot be sent to another thread; a turn reads no run.
    const { beforeLargeRead: _, ...caller } = admitted;
    const turn: HostTurn = {
      caller,
      agent,
      bytes: bodyBytes,
      goesOn: goesOn === "true",
      fork: fork === "true",
      ...defined({ session }),
    };
    const taking = apart?.isFor(bodyBytes)
      ? apart.take(turn, report)
      : takeHostTurn({ host, reviewers, backend }, turn, {
          onFailure: report,
          ...defined({ reviewLimitMs, signal: underWay?.signal }),
        });
    const taken = await (underWay === undefined ? taking : underWay.during(taking));
    switch (taken.type) {
      case "unknown":
        throw sessionNotFound(session ?? "");
      case "busy":
        throw new AppError("review_session_busy", { sessionId: session, name: "SessionBusy" });
      case "answered":
        return {
          status: 200,
          raw: answerLines(taken.sessionID, taken.response),
          contentType: "application/x-ndjson; charset=utf-8",
          headers: { "x-afp-session": taken.sessionID },
        };
    }
  };
}

const BLANKS = /^\ufeff?\s*$/;
/** Blanks alone are no request. More of them are not sent by mistake. */
const BLANKS_MAX = 1024;

function isBlank(bytes: Uint8Array): boolean {
  return bytes.length <= BLANKS_MAX && BLANKS.test(Buffer.from(bytes).toString("utf8"));
}
