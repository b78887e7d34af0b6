import type { Rule } from "./rule.ts";
import { CODE_RULES } from "./rules-code.ts";
import { JSON_RULES } from "./rules-json.ts";
import { MARKDOWN_RULES } from "./rules-markdown.ts";
import { TEXT_RULES } from "./rules-text.ts";

/** Every rule, the weightiest first: where there are too many remarks, those of the later ones are left out. */
export const RULES: readonly Rule[] = [...TEXT_RULES, ...JSON_RULES, ...MARKDOWN_RULES, ...CODE_RULES];

/** The table in docs/reviews.md, which a test compares. */
export function ruleTable(): string {
  const rows = RULES.map(
    ({ id, aspect, kinds, readsLines, finds }) =>
      `| \`${id}\` | ${aspect} | ${kinds.join(", ")} | ${readsLines ? "added lines" : "new files"} | ${finds} |`,
  );
  return ["| Rule | Aspect | Looks at | In a diff | Finds |", "|---|---|---|---|---|", ...rows].join("\n");
}
