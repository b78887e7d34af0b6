import { sha256 } from "../../../formats/text/sha256.ts";
import { withDecisions } from "../../provider/begin-turn.ts";
import {
  type RemarkWorthMaking,
  type Review,
  type ReviewRemark,
  stillWorthMaking,
} from "../../provider/finish-turn.ts";
import { latestDecisions, type ReviewSession } from "../../provider/session.ts";
import type { ReviewAsked } from "../../reviewer.ts";
import { CHARACTERS_MAX, counted, type Document, type ReadArtifact, readArtifact } from "./document.ts";
import type { Finding, Rule } from "./rule.ts";
import { CODE_RULES } from "./rules-code.ts";
import { JSON_RULES } from "./rules-json.ts";
import { MARKDOWN_RULES } from "./rules-markdown.ts";
import { TEXT_RULES } from "./rules-text.ts";

/** Every rule, the weightiest first: where there are too many remarks, those of the later ones are left out. */
export const RULES: readonly Rule[] = [...TEXT_RULES, ...JSON_RULES, ...MARKDOWN_RULES, ...CODE_RULES];

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

export interface RemarkLimits {
  readonly perRule: number;
  readonly total: number;
}

const REMARK_LIMITS: RemarkLimits = { perRule: 25, total: 100 };

/** The count of matches of one rule stops here. */
const COUNTED = 1_000;

/** The findings of the rules as remarks; the last one reports a cut list. */
export function remarksOn(documents: readonly Document[], limits: RemarkLimits = REMARK_LIMITS): ReviewRemark[] {
  const remarks: ReviewRemark[] = [];
  const times = new Map<string, number>();
  let leftOut = 0;
  for (const rule of RULES) {
    let found = 0;
    for (const { document, finding } of findings(rule, documents)) {
      if (++found > limits.perRule || remarks.length === limits.total) leftOut++;
      else remarks.push(remarkOf(rule, document, finding, times));
      if (found === COUNTED) break;
    }
  }
  return leftOut === 0 ? remarks : [...remarks, tooMany(leftOut)];
}

function* findings(rule: Rule, documents: readonly Document[]) {
  for (const document of documents) {
    if (!rule.kinds.includes(document.kind) || !(rule.readsLines || document.isWhole)) continue;
    for (const finding of rule.find(document)) yield { document, finding };
  }
}

function remarkOf(rule: Rule, { file }: Document, finding: Finding, times: Map<string, number>): ReviewRemark {
  const { part, description } = finding;
  const key = file === undefined ? finding.key : `${file} ${finding.key}`;
  const base = `${rule.id}.${slugOf(key)}${sha256(`${rule.id} ${key}`).slice(0, 10)}`;
  const before = times.get(base) ?? 0;
  times.set(base, before + 1);
  // Remarks with the same words in the same place differ by their order only.
  const id = before === 0 ? base : `${base}.${before + 1}`;
  return { id, aspect: rule.aspect, description, recommendation: rule.recommendation, part: sha256(part) };
}

function tooMany(leftOut: number): ReviewRemark {
  return {
    id: "more-remarks.not-listed",
    aspect: "completeness",
    description: `At least ${leftOut} more remarks of the same kinds are not listed.`,
    recommendation: "Deal with those that are listed, and ask again.",
    part: sha256(String(leftOut)),
  };
}

const SLUG_CHARACTERS = 40;

/** The readable part of an id; the digest after it makes it unique. */
function slugOf(key: string): string {
  const words = key
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, SLUG_CHARACTERS)
    .replace(/-$/, "");
  return words === "" ? "" : `${words}.`;
}

/** The table in docs/reviews.md, which a test compares. */
export function ruleTable(): string {
  const rows = RULES.map(
    ({ id, aspect, kinds, readsLines, finds }) =>
      `| \`${id}\` | ${aspect} | ${kinds.join(", ")} | ${readsLines ? "added lines" : "new files"} | ${finds} |`,
  );
  return ["| Rule | Aspect | Looks at | In a diff | Finds |", "|---|---|---|---|---|", ...rows].join("\n");
}
