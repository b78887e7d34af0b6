import { withDecisions } from "../../provider/begin-turn.ts";
import {
  type RemarkWorthMaking,
  type Review,
  type ReviewRemark,
  stillWorthMaking,
} from "../../provider/finish-turn.ts";
import { latestDecisions, type ReviewSession } from "../../provider/session.ts";
import type { ReviewAsked } from "../../reviewer.ts";
import { CHARACTERS_MAX, counted, type ReadArtifact, readArtifact } from "./document.ts";
import { REMARK_LIMITS, type RemarkLimits, remarksOn } from "./remarks.ts";
import { RULES } from "./rules.ts";

export function reviewByRules(
  { request, session, decisions }: ReviewAsked,
  limits: RemarkLimits = REMARK_LIMITS,
): Review {
  if (isNothing(request.artifact.content)) return NOTHING;
  const artifact = readArtifact(request.artifact);
  const remarks = remarksOn(artifact.documents, limits);
  const known = withDecisions(session, decisions);
  const fixed = dealtWith(known, remarks);
  return {
    confidence: { level: "low", justification: justification(artifact) },
    positive_points: fixed.map(({ aspect, description }) => ({
      aspect,
      justification: `Dealt with since it was remarked: ${description}`,
    })),
    remarks,
    general_summary: summary(stillWorthMaking(known, remarks), fixed.length),
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

/** Never more than low: no reader has judged the artifact, whatever the rules find. */
function justification({ readAs, isWhole }: ReadArtifact): string {
  const extent = isWhole ? "" : `; only its first ${CHARACTERS_MAX.toLocaleString("en")} characters were checked`;
  return `${RULES.length} fixed rules were applied, which is no review of its content; it was read as ${readAs}${extent}.`;
}

const RULE_IDS: ReadonlySet<string> = new Set(RULES.map(({ id }) => id));

/** Remarks of present rules that were accepted, at least in part, and no longer hold. */
function dealtWith(session: ReviewSession, remarks: readonly ReviewRemark[]) {
  const present = new Set(remarks.map(({ id }) => id));
  const decided = latestDecisions(session);
  return session.issued.filter(({ id }) => {
    const status = decided.get(id)?.status;
    const isOurs = RULE_IDS.has(id.split(".")[0] ?? "");
    return isOurs && !present.has(id) && (status === "accepted" || status === "partial");
  });
}

function summary(worthMaking: readonly RemarkWorthMaking[], fixed: number): string {
  const times = new Map<string, number>();
  for (const { remark } of worthMaking) times.set(remark.aspect, (times.get(remark.aspect) ?? 0) + 1);
  const aspects = [...times].map(([aspect, count]) => `${count} on ${aspect}`).join(", ");
  const reopened = worthMaking.filter((one) => one.reopened).length;
  return [
    `This is a rule check, not a review. ${
      worthMaking.length === 0 ? "The rules found nothing." : `${counted(worthMaking.length, "remark")}: ${aspects}.`
    }`,
    ...(reopened === 0 ? [] : [`Taken up before, and still there: ${reopened}.`]),
    ...(fixed === 0 ? [] : [`Dealt with since: ${fixed}.`]),
  ].join(" ");
}
