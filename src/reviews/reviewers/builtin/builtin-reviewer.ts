import { mediaTypeOf, type ReviewRequest } from "../../../formats/reviews/request.ts";
import { withDecisions } from "../../provider/begin-turn.ts";
import {
  type RemarkWorthMaking,
  type Review,
  type ReviewRemark,
  stillWorthMaking,
} from "../../provider/finish-turn.ts";
import { latestDecisions, type ReviewSession } from "../../provider/session.ts";
import { DEFAULT_AGENT, type ReviewAsked, type Reviewer } from "../../reviewer.ts";
import { type Document, documentOf } from "./document.ts";
import { isReviewedType, kindOf } from "./kinds.ts";
import { REMARK_LIMITS, type RemarkLimits, remarksOn } from "./remarks.ts";

export interface BuiltinReviewerOptions {
  /** Which media types are looked at. */
  readonly reviews?: (mediaType: string) => boolean;
  readonly limits?: RemarkLimits;
}

/** Looks at the form of a document by fixed rules: the same document gets the same remarks, without any model, network or key. */
export function builtinReviewer(options: BuiltinReviewerOptions = {}): Reviewer {
  const { reviews = isReviewedType, limits = REMARK_LIMITS } = options;
  return { agent: DEFAULT_AGENT, reviews, review: async (asked) => reviewByRules(asked, limits) };
}

export function reviewByRules({ request, session, decisions }: ReviewAsked, limits: RemarkLimits): Review {
  if (isNothing(request.artifact.content)) return NOTHING;
  const document = read(request.artifact);
  const remarks = remarksOn(document, limits);
  const told = withDecisions(session, decisions);
  const fixed = dealtWith(told, remarks);
  return {
    confidence: confidenceIn(document),
    positive_points: fixed.map(({ aspect, description }) => ({
      aspect,
      justification: `Dealt with since it was remarked: ${description}`,
    })),
    remarks,
    general_summary: summary(stillWorthMaking(told, remarks), fixed.length),
  };
}

const NOTHING: Review = {
  confidence: { level: "low", justification: "The artifact is empty, so there is nothing to base a review on." },
  positive_points: [],
  remarks: [],
  general_summary: "There is nothing to review.",
};

function isNothing(content: unknown): boolean {
  if (typeof content === "string") return content.trim() === "";
  return content === null || (typeof content === "object" && Object.keys(content).length === 0);
}

/** A value that is no text is JSON, whatever its type says. */
function read({ media_type, content }: ReviewRequest["artifact"]): Document {
  const mediaType = mediaTypeOf(media_type) ?? "";
  if (typeof content !== "string") return { ...documentOf("", "json", mediaType), value: { json: content } };
  const document = documentOf(content, kindOf(mediaType), mediaType);
  const value = document.kind === "json" ? readJson(content) : undefined;
  return value === undefined ? document : { ...document, value };
}

function readJson(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const FORM = "Fixed rules looked at its form; whether what it says is right was not judged";

function confidenceIn({ kind, value, mediaType }: Document): Review["confidence"] {
  if (kind === "json") {
    return value === undefined
      ? { level: "low", justification: "It says that it is JSON and cannot be read as such." }
      : { level: "high", justification: `It could be read completely. ${FORM}.` };
  }
  return { level: "medium", justification: `${FORM}; it was read as ${kind} because of its type, ${mediaType}.` };
}

/** Remarks that were accepted, at least in part, and no longer hold. */
function dealtWith(session: ReviewSession, remarks: readonly ReviewRemark[]) {
  const present = new Set(remarks.map(({ id }) => id));
  const decided = latestDecisions(session);
  return session.issued.filter(({ id }) => {
    const status = decided.get(id)?.status;
    return !present.has(id) && (status === "accepted" || status === "partial");
  });
}

function summary(worthMaking: readonly RemarkWorthMaking[], fixed: number): string {
  const times = new Map<string, number>();
  for (const { remark } of worthMaking) times.set(remark.aspect, (times.get(remark.aspect) ?? 0) + 1);
  const aspects = [...times].map(([aspect, count]) => `${count} on ${aspect}`).join(", ");
  const reopened = worthMaking.filter((one) => one.reopened).length;
  return [
    worthMaking.length === 0 ? "Nothing to remark." : `${counted(worthMaking.length)}: ${aspects}.`,
    ...(reopened === 0 ? [] : [`Taken up before, and still there: ${reopened}.`]),
    ...(fixed === 0 ? [] : [`Dealt with since: ${fixed}.`]),
  ].join(" ");
}

function counted(count: number): string {
  return count === 1 ? "1 remark" : `${count} remarks`;
}
