import { CONFIDENCE_LEVELS } from "../../formats/reviews/response.ts";
import { unfenced } from "../../formats/text/code-fence.ts";
import { matches, problemsOf, type Static, Type } from "../../protocol/schema.ts";
import type { Review, ReviewRemark } from "../provider/finish-turn.ts";
import type { IssuedRemark } from "../provider/session.ts";
import type { ChatAnswer } from "./chat-model.ts";
import { type ArtifactText, idFor, type Place } from "./model-place.ts";

const words = Type.String({ minLength: 1, maxLength: 8000 });
const aspect = Type.String({ minLength: 1, maxLength: 200 });

/** The schema of a model's answer. */
export const MODEL_ANSWER = Type.Object({
  confidence: Type.Object({ level: Type.Enum(CONFIDENCE_LEVELS), justification: words }),
  positive_points: Type.Array(Type.Object({ aspect, justification: words }), { maxItems: 50 }),
  remarks: Type.Array(
    Type.Object({
      aspect,
      quote: Type.Optional(Type.Union([Type.String({ maxLength: 8000 }), Type.Null()])),
      description: words,
      recommendation: words,
      same_as: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    }),
    { maxItems: 50 },
  ),
  general_summary: words,
});

type ModelAnswer = Static<typeof MODEL_ANSWER>;

/** A review, or why there is none. A review may have a problem too: it is usable, but a better one may be had. */
export interface ReadAnswer {
  readonly review?: Review;
  /** Quotes nothing of the model's answer. */
  readonly problem?: string;
}

/**
 * Reads a model's answer as a review. Only requested members are used. A model cannot choose ids: a known one is kept when it was
 * issued in this conversation, any other is derived from the aspect and the passage, which must occur in the artifact.
 */
export function readModelAnswer(
  { text, finish }: ChatAnswer,
  artifact: ArtifactText,
  issued: readonly IssuedRemark[],
): ReadAnswer {
  const value = objectIn(text);
  if (value === undefined) {
    if (finish === "length") return { problem: "it was cut off because it was too long; be brief" };
    return { problem: "it is not one JSON object" };
  }
  if (!matches(MODEL_ANSWER, value)) {
    const [first] = problemsOf(MODEL_ANSWER, value);
    return { problem: `${first?.path || "the object"} ${first?.problem}` };
  }
  const places = value.remarks.map(({ quote }) => artifact.find(quote ?? ""));
  const missing = places.flatMap((place, i) => (place === undefined ? [`/remarks/${i}/quote`] : []));
  const review = reviewOf(value, places, artifact, issued, missing.length);
  if (missing.length === 0) return { review };
  const problem = `${missing.join(", ")} is not in the ARTIFACT`;
  // A review whose remarks were all dropped would look like an approval.
  return review.remarks.length === 0 ? { problem } : { review, problem };
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(unfenced(text) ?? text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function reviewOf(
  { confidence, positive_points, remarks, general_summary }: ModelAnswer,
  places: readonly (Place | undefined)[],
  artifact: ArtifactText,
  issued: readonly IssuedRemark[],
  leftOut: number,
): Review {
  const known = new Map(issued.map((one) => [one.id, one]));
  const taken = new Set<string>();
  const kept = remarks.flatMap((remark, i): ReviewRemark[] => {
    const place = places[i];
    if (place === undefined) return [];
    const id = unusedId(remark, place, known, taken);
    taken.add(id);
    const { aspect, description, recommendation } = remark;
    return [{ id, aspect, description, recommendation, part: partFor(known.get(id), place, artifact) }];
  });
  const note =
    leftOut === 0 ? "" : ` (Left out: ${leftOut} of the remarks, about passages that are not in the artifact.)`;
  return {
    confidence: { level: confidence.level, justification: confidence.justification },
    positive_points: positive_points.map(({ aspect, justification }) => ({ aspect, justification })),
    remarks: kept,
    general_summary: `${general_summary}${note}`,
  };
}

function unusedId(
  { aspect, same_as }: ModelAnswer["remarks"][number],
  place: Place,
  known: ReadonlyMap<string, IssuedRemark>,
  taken: ReadonlySet<string>,
): string {
  if (typeof same_as === "string" && known.has(same_as) && !taken.has(same_as)) return same_as;
  const derived = idFor(aspect, place);
  let id = derived;
  // Two matters of one aspect in one line.
  for (let n = 2; taken.has(id); n++) id = `${derived}.${n}`;
  return id;
}

/** The same matter may be quoted a little differently in a later turn; as long as the earlier passage occurs, it is used. */
function partFor(earlier: IssuedRemark | undefined, place: Place, artifact: ArtifactText): string {
  return earlier !== undefined && artifact.holds(earlier.part) ? earlier.part : place.part;
}
