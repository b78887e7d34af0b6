import type { TextRange } from "./text-range.ts";

/** Finds secrets in a text. */
export type FindSecrets = (text: string) => readonly TextRange[];

/** The part of a secretlint rule that is used here. */
interface Rule {
  readonly meta: { readonly id: string };
  create(context: Context, options: object): { file(source: Source): unknown };
}
interface Context {
  createTranslator(messages: object): (messageId: string) => object;
  report(): void;
}
/**
 * Rules get a text without a file name, so rules that go by name or type of a file find nothing. They see the matches of their own
 * patterns, one after the other, so the full match behind a report is known: some rules report only part of it.
 */
interface Source {
  readonly content: { matchAll(pattern: RegExp): Iterable<RegExpMatchArray> };
  readonly filePath: "";
  readonly ext: "";
}

const RULE = "@secretlint/secretlint-rule-";

/** Rules that are left out, with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  "filter-comments": "lets a text say that it is not to be looked at",
  gcp: "looks into files; the private key inside has a shape of the floor",
  basicauth: "knows exceptions; the floor takes every password out of a URL, and leaves the rest readable",
  "database-connection-string": "the same",
};

/**
 * Every text in which a rule finds something matches this; a test goes through the patterns of the rules. Nearly all texts do not match,
 * and running all rules takes about ten times as long as this check.
 */
export const TRIGGER =
  /secret_?access|x-oauth-basic|npm_|xox[abopr]-|xapp-|hooks\.slack|PRIVATE KEY|SG\.|shp(?:pa|ca|at|ss)_|gh[oprsu]_|github_pat_|glpat-|gl(?:c|sa)_|sk-|gsk_|hf_|lin_api_|ntn_|ops_ey|hv[bsr]\.|vc[aikpr]_|dapi|dckr_pat_|figd_/i;

/**
 * The recommended rules of secretlint, kept by its maintainers. They are plain patterns with bounds and run at once; a test checks both,
 * since an update may bring a rule that differs.
 */
export async function loadRuleSet(): Promise<FindSecrets> {
  const rules = await usedRules();
  let found: TextRange[] = [];
  let match: TextRange = [0, 0];
  const files = rules.map((rule) =>
    rule.create(
      {
        createTranslator: () => () => ({}),
        report: () => void found.push(match),
      },
      {},
    ),
  );
  return (text) => {
    if (!TRIGGER.test(text)) return [];
    found = [];
    // Rules match nothing directly after a letter, and "é" counts as one.
    const plain = text.replace(/[^\0-\x7f]/g, " ");
    const content = {
      *matchAll(pattern: RegExp) {
        for (const one of plain.matchAll(pattern)) {
          match = [one.index, one.index + one[0].length];
          yield one;
        }
      },
    };
    for (const { file } of files) file({ content, filePath: "", ext: "" });
    return found;
  };
}

/** For the test that goes through their patterns. */
export async function usedRules(): Promise<readonly Rule[]> {
  // Loaded on first use: loading takes longer than many commands.
  const { creator } = await import("@secretlint/secretlint-rule-preset-recommend");
  const rules = (creator as unknown as { readonly rules: readonly Rule[] }).rules;
  return rules.filter(({ meta }) => LEFT_OUT[meta.id.replace(RULE, "")] === undefined);
}
