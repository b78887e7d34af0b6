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
 * A text is no file: rules that go by name or type of a file find none. They see of it what their patterns match, one
 * match after the other, and so the match that they report is known: some name only part of it.
 */
interface Source {
  readonly content: { matchAll(pattern: RegExp): Iterable<RegExpMatchArray> };
  readonly filePath: "";
  readonly ext: "";
}

const RULE = "@secretlint/secretlint-rule-";

/** Rules that are left out, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  "filter-comments": "lets a text say that it is not to be looked at",
  gcp: "looks into files; the private key inside has a shape of the floor",
  basicauth: "knows exceptions; the floor takes every password out of a URL, and leaves the rest readable",
  "database-connection-string": "the same",
};

/**
 * What a text holds at least that any rule finds something in; a test goes through the patterns of the rules. Nearly
 * all texts have none of it, and all rules together take about ten times as long as this one look.
 */
export const TRIGGER =
  /secret_?access|x-oauth-basic|npm_|xox[abopr]-|xapp-|hooks\.slack|PRIVATE KEY|SG\.|shp(?:pa|ca|at|ss)_|gh[oprsu]_|github_pat_|glpat-|gl(?:c|sa)_|sk-|gsk_|hf_|lin_api_|ntn_|ops_ey|hv[bsr]\.|vc[aikpr]_|dapi|dckr_pat_|figd_/i;

/**
 * The recommended rules of secretlint, kept by its maintainers. They are plain patterns with bounds and run at once; a
 * test watches both, since a rule that came with an update could be otherwise.
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
    // For the rules nothing begins after a letter, and "é" is one.
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
  // Loaded when it is needed: it takes longer than many a command.
  const { creator } = await import("@secretlint/secretlint-rule-preset-recommend");
  const rules = (creator as unknown as { readonly rules: readonly Rule[] }).rules;
  return rules.filter(({ meta }) => LEFT_OUT[meta.id.replace(RULE, "")] === undefined);
}
