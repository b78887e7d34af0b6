import { AppError } from "../../protocol/errors.ts";
import type { RunReviewQuery } from "../../protocol/reviews/api.ts";
import { answerLines } from "../../reviews/provider/answer-lines.ts";
import { DEFAULT_AGENT, type Reviewer } from "../../reviews/reviewer.ts";
import { type HostTurn, takeHostTurn } from "../../reviews/server/host-turn.ts";
import { sessionState } from "../../reviews/server/show-review.ts";
import type { TurnsApart } from "../../reviews/server/turns-apart.ts";
import type { TurnsUnderWay } from "../../reviews/server/turns-under-way.ts";
import { sessionNotFound } from "../../reviews/server/visible-review.ts";
import type { StoreBackendSettings } from "../../reviews/store-backend.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";

/** Who reviews on this host, and how long others wait for them. */
export interface ReviewService {
  readonly reviewers: readonly Reviewer[];
  readonly backend?: Partial<StoreBackendSettings>;
  readonly reviewLimitMs?: number;
  /** Where turns are counted that have to be over before the host ends. */
  readonly underWay?: TurnsUnderWay;
  /** Takes turns that would hold up everything else; without it they are taken here. */
  readonly apart?: Pick<TurnsApart, "isFor" | "take">;
}

/**
 * One turn with the provider. It goes on when the client has gone: nothing here looks at the connection again before the answer is
 * written, so that whoever asks again in the same words is given it.
 */
export function runReviewRoute({ reviewers, backend, reviewLimitMs, underWay, apart }: ReviewService): Handler {
  return async (context) => {
    const { host, bodyBytes, report } = context;
    const { agent = DEFAULT_AGENT, session, continue: goesOn, fork } = context.query as RunReviewQuery;
    if (isBlank(bodyBytes)) {
      throw new AppError("validation_error", { problem: "the body is empty; send a request", name: "EmptyInput" });
    }
    if (!reviewers.some((one) => one.agent === agent)) {
      throw new AppError("not_found", { what: "reviewer", known: reviewers.map((one) => one.agent), name: "NotFound" });
    }
    if (fork === "true" && session === undefined && goesOn !== "true") {
      throw new AppError("validation_error", { problem: "fork requires session or continue" });
    }
    // A function does not travel to another thread; a turn reads no run.
    const { beforeLargeRead: _, ...caller } = callerOf(context);
    const turn: HostTurn = {
      caller,
      agent,
      bytes: bodyBytes,
      goesOn: goesOn === "true",
      fork: fork === "true",
      ...(session === undefined ? {} : { session }),
    };
    const taking = apart?.isFor(bodyBytes)
      ? apart.take(turn, report)
      : takeHostTurn({ host, reviewers, backend }, turn, {
          onFailure: report,
          ...(reviewLimitMs === undefined ? {} : { reviewLimitMs }),
          ...(underWay === undefined ? {} : { signal: underWay.signal }),
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
/** Blanks alone are no request, and nobody sends more of them by mistake. */
const BLANKS_MAX = 1024;

function isBlank(bytes: Uint8Array): boolean {
  return bytes.length <= BLANKS_MAX && BLANKS.test(Buffer.from(bytes).toString("utf8"));
}

export const getReviewSessionRoute: Handler = async (context) => {
  const { sessionId = "" } = context.params;
  return { status: 200, json: await sessionState(context.host, callerOf(context), sessionId) };
};
