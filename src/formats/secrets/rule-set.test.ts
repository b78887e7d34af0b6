import { describe, expect, test } from "vitest";
import { RULE_SET_EXAMPLES } from "../../testing/rule-set-examples.ts";
import { LEFT_OUT, loadRuleSet, TRIGGER, usedRules } from "./rule-set.ts";
import { masked } from "./text-range.ts";

const EXAMPLES = Object.entries(RULE_SET_EXAMPLES);

/** Every pattern that the rules look for in a text, by asking them to look through one that writes them down. */
async function patterns(): Promise<RegExp[]> {
  const asked: RegExp[] = [];
  const content = {
    matchAll(pattern: RegExp) {
      asked.push(pattern);
      return [];
    },
  };
  for (const rule of await usedRules()) {
    const context = { createTranslator: () => () => ({}), report: () => {} };
    const answer = rule.create(context, {}).file({ content, filePath: "", ext: "" });
    expect(answer, `${rule.meta.id} answers at once`).toBeUndefined();
  }
  return asked;
}

describe("the rule set", () => {
  test.each(EXAMPLES)("finds the secret of %s, and only that", async (_, secret) => {
    const find = await loadRuleSet();
    expect(masked(`it was: ${secret} .`, find(`it was: ${secret} .`), "#")).toMatch(/^it was: "?#"? \.$/);
  });

  test("takes all of a secret whose rule names only part of it", async () => {
    const text = `aws_secret_access_key${" ".repeat(60)}=${" ".repeat(60)}"${"aB3d".repeat(10)}"`;
    expect(masked(text, (await loadRuleSet())(text), "#")).toBe('#"');
  });

  test.each(EXAMPLES)("is asked about a text with the secret of %s", (_, secret) => {
    expect(TRIGGER.test(secret)).toBe(true);
  });

  test("has an example for each of its patterns, so that none came with an update and is never asked for", async () => {
    for (const pattern of await patterns()) {
      expect(
        EXAMPLES.filter(([, secret]) => new RegExp(pattern).test(secret)),
        String(pattern),
      ).not.toHaveLength(0);
    }
  });

  test("has patterns that take time in proportion to the text", async () => {
    // All others repeat a bounded number of times. In these two what is repeated without a bound cannot begin a match.
    const reviewed = [/^\["'\]\?\(\?:AWS.*\\s\*/, /^\\b\(\?:xoxb\|.*\(\?:\[a-zA-Z0-9\]\{1,40\}-\)\+/];
    for (const { source } of await patterns()) {
      const outsideClasses = source.replace(/\[(?:\\.|[^\]\\])*\]/g, "c").replace(/\\[*+]/g, "e");
      if (!/[*+]|\{\d+,\}/.test(outsideClasses)) continue;
      expect(
        reviewed.some((known) => known.test(source)),
        source,
      ).toBe(true);
    }
  });

  test("is used whole but for the rules that are left out with a reason", async () => {
    const { creator } = await import("@secretlint/secretlint-rule-preset-recommend");
    const all = (creator as unknown as { rules: readonly { meta: { id: string } }[] }).rules.map(({ meta }) => meta.id);
    const used = (await usedRules()).map(({ meta }) => meta.id);
    expect(all.filter((id) => !used.includes(id)).sort()).toEqual(
      Object.keys(LEFT_OUT)
        .map((name) => `@secretlint/secretlint-rule-${name}`)
        .sort(),
    );
  });
});
