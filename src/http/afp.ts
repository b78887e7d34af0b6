import { AppError } from "../protocol/errors.ts";
import type { RunReviewQuery } from "../protocol/review-api.ts";
import { answerLines } from "../reviews/provider/answer-lines.ts";
import { takeTurn } from "../reviews/provider/take-turn.ts";
import { DEFAULT_AGENT, type Reviewer } from "../reviews/reviewer.ts";
import { cleanReviewer } from "../reviews/server/clean-review.ts";
import { sessionState } from "../reviews/server/show-review.ts";
import { sessionNotFound } from "../reviews/server/visible-review.ts";
import { type StoreHomeSettings, storeHome } from "../reviews/store-home.ts";
import { callerOf, type Handler } from "./handler.ts";

/** Who reviews on this host, and how long others wait for them. */
export interface ReviewService {
  readonly reviewers: readonly Reviewer[];
  readonly home?: Partial<StoreHomeSettings>;
  readonly reviewLimitMs?: number;
}

/**
 * One turn with the provider. It goes on when the client has gone: nothing here looks at the connection again before the answer is
 * written, so that whoever asks again in the same words is given it.
 */
export function runReviewRoute({ reviewers, home, reviewLimitMs }: ReviewService): Handler {
  return async (context) => {
    const { host, bodyBytes, report } = context;
    const { agent = DEFAULT_AGENT, session } = context.query as RunReviewQuery;
    if (isBlank(bodyBytes)) {
      throw new AppError("validation_error", { problem: "the body is empty; send a request", name: "EmptyInput" });
    }
    if (!reviewers.some((one) => one.agent === agent)) {
      throw new AppError("not_found", { what: "reviewer", known: reviewers.map((one) => one.agent), name: "NotFound" });
    }
    const taken = await takeTurn(
      storeHome({ host, caller: callerOf(context), agent }, home),
      reviewers.map((one) => cleanReviewer(one, host.scrubber)),
      // An empty name is one that is not known: whoever lost it would otherwise begin again without noticing.
      { bytes: bodyBytes, agent, ...(session === undefined ? {} : { session }) },
      { onFailure: report, ...(reviewLimitMs === undefined ? {} : { reviewLimitMs }) },
    );
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
/** Blanks alone are no request, and nobody sends more of them by mistake. */
const BLANKS_MAX = 1024;

function isBlank(bytes: Uint8Array): boolean {
  return bytes.length <= BLANKS_MAX && BLANKS.test(Buffer.from(bytes).toString("utf8"));
}

export const getReviewSessionRoute: Handler = async (context) => {
  const { sessionId = "" } = context.params;
  return { status: 200, json: await sessionState(context.host, callerOf(context), sessionId) };
};
