import { DEFAULT_AGENT, type Reviewer } from "../../reviewer.ts";
import type { RemarkLimits } from "./review-by-rules.ts";
import { isReviewedType } from "./rule.ts";

export interface BuiltinReviewerOptions {
  readonly reviews?: (mediaType: string) => boolean;
  readonly limits?: RemarkLimits;
}

/**
 * Checks an artifact by fixed rules: the same artifact gets the same remarks, without any model, network or key. It is no review, and
 * its answers say so. The rules and the parser behind them are loaded with the first review.
 */
export function builtinReviewer({ reviews = isReviewedType, limits }: BuiltinReviewerOptions = {}): Reviewer {
  return {
    agent: DEFAULT_AGENT,
    reviews,
    review: async (asked) => (await import("./review-by-rules.ts")).reviewByRules(asked, limits),
  };
}
