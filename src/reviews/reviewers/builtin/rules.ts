import type { Rule } from "./rule.ts";
import { CODE_RULES } from "./rules-code.ts";
import { ERROR_RULES } from "./rules-errors.ts";
import { JSON_RULES } from "./rules-json.ts";
import { LINK_RULES } from "./rules-links.ts";
import { MARKDOWN_RULES } from "./rules-markdown.ts";
import { MARK_RULES } from "./rules-marks.ts";
import { PROSE_RULES } from "./rules-prose.ts";

/** Every rule, the weightiest first: where there are too many remarks, those of the later ones are left out. */
export const RULES: readonly Rule[] = [
  ...MARK_RULES,
  ...ERROR_RULES,
  ...JSON_RULES,
  ...MARKDOWN_RULES,
  ...LINK_RULES,
  ...CODE_RULES,
  ...PROSE_RULES,
];

/** For docs/reviews.md, which a test compares. */
export function ruleTable(): string {
  const rows = RULES.map(
    ({ id, aspect, kinds, finds }) => `| \`${id}\` | ${aspect} | ${kinds.join(", ")} | ${finds} |`,
  );
  return ["| Rule | Aspect | Looks at | Finds |", "|---|---|---|---|", ...rows].join("\n");
}
