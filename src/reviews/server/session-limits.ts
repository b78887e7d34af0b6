import type { CheckedRequest, Decision, ReviewRequest } from "../../formats/reviews/request.ts";
import type { ReviewSession } from "../provider/session.ts";

/**
 * Sessions of a host are read whole: by each turn, each copy, and by all figures about them. What a request adds to one is therefore
 * bounded, and so is what a session comes to hold: a few large requests would otherwise make each small one after them a large one.
 */
export const DECISIONS_MAX = 1000;
const DECISION_CHARACTERS_MAX = 262_144;
const NAME_CHARACTERS_MAX = 65_536;
/** The limit of all rounds of a session as JSON. */
export const SESSION_CHARACTERS_MAX = 2_097_152;
/** The limit of an artifact that is kept to find later changes. */
const KEPT_ARTIFACT_CHARACTERS_MAX = 1_048_576;

/** A request that would add more than a session of a host takes is refused like any other that is wrong. */
export function withinLimits(checked: CheckedRequest): CheckedRequest {
  if (!checked.ok) return checked;
  const { iteration } = checked.request;
  const name = longName(checked.request);
  if (name !== undefined) {
    const message = `artifact.${name} is longer than ${NAME_CHARACTERS_MAX} characters`;
    return { ok: false, problem: name, message, iteration };
  }
  const message = excessOf(checked.request.applied_feedback?.items ?? []);
  return message === undefined ? checked : { ok: false, problem: "applied_feedback", message, iteration };
}

function longName({ artifact }: ReviewRequest): "media_type" | "artifact_ref" | undefined {
  return (["media_type", "artifact_ref"] as const).find((name) => (artifact[name]?.length ?? 0) > NAME_CHARACTERS_MAX);
}

function excessOf(items: readonly Decision[]): string | undefined {
  if (items.length > DECISIONS_MAX) return `applied_feedback.items has more than ${DECISIONS_MAX} decisions`;
  let characters = 0;
  for (const { id, reason_code = "", explanation = "" } of items) {
    characters += id.length + reason_code.length + explanation.length;
  }
  if (characters <= DECISION_CHARACTERS_MAX) return undefined;
  return `applied_feedback.items has more than ${DECISION_CHARACTERS_MAX} characters`;
}

/** The session in its stored form. A large artifact is left out: later changes of it are then unknown. */
export function keptSession({ artifact, ...session }: ReviewSession): ReviewSession {
  const isKept = artifact !== undefined && JSON.stringify(artifact).length <= KEPT_ARTIFACT_CHARACTERS_MAX;
  return isKept ? { ...session, artifact } : session;
}
