import { parsedJson } from "../../formats/json/check-json.ts";
import { CONFIDENCE_LEVELS } from "../../formats/reviews/response.ts";
import { findText, unfenced } from "../../formats/text/find-text.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { isObject } from "../../protocol/own.ts";
import { firstProblem, matches, type Static, Type } from "../../protocol/schema.ts";
import type { Review, ReviewRemark } from "../provider/finish-turn.ts";
import type { IssuedRemark } from "../provider/session.ts";
import type { ChatAnswer } from "./chat-model.ts";

const words = Type.String({ minLength: 1, maxLength: 8000 });
const aspect = Type.String({ minLength: 1, maxLength: 200 });

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
  const value = parsedJson(unfenced(text) ?? text);
  if (!isObject(value)) {
    if (finish === "length") return { problem: "it was cut off because it was too long; be brief" };
    return { problem: "it is not one JSON object" };
  }
  if (!matches(MODEL_ANSWER, value)) {
    return { problem: firstProblem(MODEL_ANSWER, value, "the object") };
  }
  const places = value.remarks.map(({ quote }) => artifact.find(quote ?? ""));
  const missing = places.flatMap((place, i) => (place === undefined ? [`/remarks/${i}/quote`] : []));
  const review = reviewOf(value, places, artifact, issued, missing.length);
  if (missing.length === 0) return { review };
  const problem = `${missing.join(", ")} is not in the ARTIFACT`;
  // A review whose remarks were all dropped would look like an approval.
  return review.remarks.length === 0 ? { problem } : { review, problem };
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

/** A passage of an artifact: the whole lines that hold what was quoted, or all of it. */
export interface Place {
  /** Its first line with single blanks, or the quoted part of a very long one; empty for the whole artifact. */
  readonly line: string;
  /** Stands for the passage: the number of its lines and their hash. */
  readonly part: string;
}

/** An artifact that is searched for passages. */
export class ArtifactText {
  readonly #lines: readonly string[];
  /** The text with single blanks, so that a passage is found without its line breaks or indentation. */
  readonly #joined: string;
  /** The position of each line in `#joined`. */
  readonly #begins: readonly number[];

  constructor(text: string) {
    this.#lines = text.split("\n").map((line) => blanksJoined(line));
    const begins: number[] = [];
    let length = 0;
    for (const line of this.#lines) {
      begins.push(length);
      if (line !== "") length += line.length + 1;
    }
    this.#begins = begins;
    this.#joined = this.#lines.filter((line) => line !== "").join(" ");
  }

  /** An empty quote is the whole artifact; undefined for a quote that does not occur. */
  find(quote: string): Place | undefined {
    const wanted = blanksJoined(quote);
    if (wanted === "") return { line: "", part: partOf(this.#lines) };
    const at = findText(this.#joined, wanted);
    if (at < 0) return undefined;
    const first = this.#lineAt(at);
    const last = this.#lineAt(at + wanted.length - 1);
    const line = this.#lines[first] ?? "";
    // Where the whole artifact is one line, the quoted part is used.
    return { line: line.length <= LINE_MAX ? line : wanted, part: partOf(this.#lines.slice(first, last + 1)) };
  }

  /** Whether a passage of an earlier text occurs in this one too. */
  holds(part: string): boolean {
    const count = Number(/^(\d+):/.exec(part)?.[1] ?? Number.NaN);
    if (!(count >= 1 && count <= this.#lines.length)) return false;
    for (let i = 0; i + count <= this.#lines.length; i++) {
      if (partOf(this.#lines.slice(i, i + count)) === part) return true;
      // A long passage compared at every line would be work without bound.
      if (count > WINDOW_LINES_MAX) return false;
    }
    return false;
  }

  #lineAt(offset: number): number {
    let low = 0;
    let high = this.#begins.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#begins[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

const WINDOW_LINES_MAX = 60;
const LINE_MAX = 200;

/** Stable for a matter of the same aspect in the same line, wherever the line moves. */
export function idFor(aspect: string, { line }: Place): string {
  const slug = aspect
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return `${slug === "" ? "remark" : slug}.${sha256(`${slug}\n${line}`).slice(0, 12)}`;
}

function partOf(lines: readonly string[]): string {
  return `${lines.length}:${sha256(lines.join("\n")).slice(0, 32)}`;
}

function blanksJoined(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
