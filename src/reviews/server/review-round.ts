import { sha256 } from "../../formats/text/sha256.ts";
import { defined } from "../../protocol/defined.ts";
import { isId } from "../../protocol/id.ts";
import type { ReviewRoundView } from "../../protocol/reviews/api.ts";
import { fingerprintOf, type ReceivedDecision, type ReviewSession } from "../provider/session.ts";

/** One request that advanced a session: its decisions, and its answer. The digest of the artifact is that of the content as it came. */
export type ReviewRound = Omit<ReviewRoundView, "n" | "at">;
export type RoundDecision = ReviewRound["decisions"][number];
export type RoundRemark = ReviewRound["remarks"][number];
type RoundArtifact = NonNullable<ReviewRound["artifact"]>;

/** The stored parts of a session other than its rounds. */
export interface ReviewMemory {
  readonly conversation: number;
  /** The length of all rounds as JSON; absent in sessions of earlier versions, whose first rounds do not count. */
  readonly characters?: number;
  readonly session: ReviewSession;
}

export interface Movement {
  readonly conversation: number;
  readonly round?: ReviewRound;
}

/** The change between two states of a session; no round where there is nothing to report. */
export function movementOf(
  before: ReviewMemory,
  after: ReviewSession,
  who: Pick<ReviewRound, "agent" | "by">,
): Movement {
  const { answered } = after;
  const earlier = before.session.answered;
  const isAnswered =
    answered !== undefined &&
    (answered.iteration !== earlier?.iteration || answered.fingerprint !== earlier.fingerprint);
  const beginsAnew = isAnswered && answered.iteration === 1 && before.session.last > 0;
  const conversation = Math.max(1, before.conversation + (beginsAnew ? 1 : 0));
  const reported = new Set(isAnswered && answered.iteration === 1 ? [] : before.session.decisions.map(asText));
  // Repeated turns bring their decisions again, perhaps with others; decisions already reported are not reported twice.
  const decisions = after.decisions.filter((one) => !reported.has(asText(one)));
  if (!isAnswered && decisions.length === 0) return { conversation: before.conversation };
  const common = { conversation, ...who, decisions: decisions.map(decisionOf) };
  if (!isAnswered) {
    return {
      conversation,
      round: { ...common, iteration: decisions[0]?.iteration ?? 0, outcome: "error", remarks: [] },
    };
  }
  const { iteration, response } = answered;
  return {
    conversation,
    round: { ...common, iteration, outcome: "success", ...artifactOf(after), ...feedbackOf(response) },
  };
}

function asText({ iteration, id, status, known, reason_code, explanation }: ReceivedDecision): string {
  return JSON.stringify([iteration, id, status, known, reason_code, explanation]);
}

function decisionOf({ id, status, known, reason_code, explanation }: ReceivedDecision): RoundDecision {
  return {
    id,
    status,
    processing_status: known ? "acknowledged" : "unknown_id",
    ...defined({ reason_code, explanation }),
  };
}

function artifactOf({ artifact }: ReviewSession): { artifact?: RoundArtifact } {
  if (artifact === undefined) return {};
  const { media_type, artifact_ref, content } = artifact;
  const runId = (artifact as { readonly "x-run-id"?: unknown })["x-run-id"];
  return {
    artifact: {
      media_type,
      ...defined({ artifact_ref }),
      digest: `sha256:${typeof content === "string" ? sha256(content) : fingerprintOf(content)}`,
      ...(typeof runId === "string" && isId(runId) ? { runId } : {}),
    },
  };
}

interface Answer {
  readonly feedback: Required<Pick<ReviewRound, "confidence" | "general_summary" | "positive_points">> & {
    readonly areas_for_improvement: readonly (Omit<RoundRemark, "reopened"> & { readonly "x-reopened"?: boolean })[];
  };
}

/** The response was written by this host, so it is not checked again. */
function feedbackOf(response: string) {
  const { feedback } = JSON.parse(response) as Answer;
  const { confidence, general_summary, positive_points, areas_for_improvement } = feedback;
  return {
    confidence,
    general_summary,
    positive_points,
    remarks: areas_for_improvement.map(({ id, aspect, description, recommendation, "x-reopened": reopened }) => ({
      id,
      aspect,
      description,
      recommendation,
      ...(reopened === true ? { reopened } : {}),
    })),
  };
}
