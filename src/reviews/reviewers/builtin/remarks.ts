import { createHash } from "node:crypto";
import type { ReviewRemark } from "../../provider/finish-turn.ts";
import type { Document } from "./document.ts";
import type { Finding, Rule } from "./rule.ts";
import { RULES } from "./rules.ts";

export interface RemarkLimits {
  readonly perRule: number;
  readonly total: number;
}

/** The limits of remarks for a reader. */
export const REMARK_LIMITS: RemarkLimits = { perRule: 25, total: 100 };

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
  const base = `${rule.id}.${slugOf(key)}${digest(`${rule.id} ${key}`).slice(0, 10)}`;
  const before = times.get(base) ?? 0;
  times.set(base, before + 1);
  // Remarks with the same words in the same place differ by their order only.
  const id = before === 0 ? base : `${base}.${before + 1}`;
  return { id, aspect: rule.aspect, description, recommendation: rule.recommendation, part: digest(part) };
}

function tooMany(leftOut: number): ReviewRemark {
  return {
    id: "more-remarks.not-listed",
    aspect: "completeness",
    description: `At least ${leftOut} more remarks of the same kinds are not listed.`,
    recommendation: "Deal with those that are listed, and ask again.",
    part: digest(String(leftOut)),
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

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
