import { describe, expect, test } from "vitest";
import { RULE_SET_EXAMPLES } from "../../testing/rule-set-examples.ts";
import { loadRuleSet } from "./rule-set.ts";
import { scrubber } from "./scrub.ts";
import { SECRET_SHAPES } from "./secret-shapes.ts";

const KNOWN = ["correct horse battery staple", "pa$$/w+rd&more", "k\u00e4se-und-br\u00f6tchen"];
const { scrubText, scrubValue } = scrubber({ known: KNOWN, more: await loadRuleSet() });

/** What must not be left of a text that had it: the example without the words around it that stay. */
const SECRETS: readonly (readonly [name: string, text: string, secret: string])[] = [
  ...SECRET_SHAPES.map(({ id, example, pattern }) => {
    const [match] = [...example.matchAll(pattern)];
    return [id, example, match?.[0].slice(match.groups?.["kept"]?.length ?? 0) ?? ""] as const;
  }),
  ...Object.entries(RULE_SET_EXAMPLES).map(([name, text]) => [`rule set: ${name}`, text, text.slice(-25, -1)] as const),
  ...KNOWN.map((value) => [`known: ${value}`, value, value] as const),
];

/** Where secrets are found: what stands before and after them. */
const PLACES: readonly (readonly [before: string, after: string])[] = [
  ["", ""],
  ["The key is ", ", keep it."],
  ['"', '"'],
  ["'", "'"],
  ["`", "`"],
  ["(", ")"],
  ["export KEY=", "\nexport OTHER=1"],
  ['{"key":"', '","n":1}'],
  ["line one\n\t", "\r\nline three"],
  ["<b>", "</b>"],
  ["é", " 秘"],
  ["[REDACTED]", "[REDACTED]"],
];

/** How they are written there. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "in JSON": (text) => JSON.stringify(text),
  "in JSON in JSON": (text) => JSON.stringify(JSON.stringify(text)),
  "in a URL": (text) => encodeURIComponent(text),
  "in a URL in a URL": (text) => encodeURIComponent(encodeURIComponent(text)),
  "after a line break in JSON": (text) => JSON.stringify(`a\nb\t${text}\n`),
};

describe.each(Object.entries(ENCODINGS))("a secret written %s", (_, encode) => {
  test.each(SECRETS)("%s: is gone, wherever it stands", (_, text, secret) => {
    for (const [before, after] of PLACES) {
      const written = encode(`${before}${text}${after}`);
      const clean = scrubText(written);
      expect(clean, written).not.toContain(encode(secret).replace(/^(?:\\*")+|(?:\\*")+$/g, ""));
      expect(clean, written).not.toContain(secret);
      expect(scrubText(clean), written).toBe(clean);
    }
  });
});

/** The same every time, so that a failure can be looked at. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const SHARDS = [
  ...SECRETS.flatMap(([, text]) => [text, text.slice(0, 7), text.slice(0, -3), text.slice(4)]),
  ..." \n\t\"'\\/%:=@.,-_[]{}<>&?#$é秘😀\ud83d".split(""),
  ...[
    "\\n",
    "\\u0022",
    "\\\\",
    "%20",
    "%2525",
    "://",
    "[REDACTED]",
    "Bearer ",
    "-----END ",
    "sk-",
    "eyJ",
    "aaaaaaaaaaaaaaaa",
  ],
];

describe("any text", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])("is clean after one cleaning (%i)", (seed) => {
    const roll = dice(seed);
    for (let i = 0; i < 1500; i++) {
      const text = Array.from({ length: 1 + roll(8) }, () => SHARDS[roll(SHARDS.length)]).join("");
      const clean = scrubText(text);
      expect(scrubText(clean), JSON.stringify(text)).toBe(clean);
    }
  });

  test.each([11, 12])("is clean as part of any value after one cleaning (%i)", (seed) => {
    const roll = dice(seed);
    const value = (depth: number): unknown => {
      const kind = roll(depth > 5 ? 3 : 5);
      if (kind === 0) return [null, true, 1.5, ""][roll(4)];
      if (kind <= 2) return `${SHARDS[roll(SHARDS.length)]}${SHARDS[roll(SHARDS.length)]}`;
      const items = Array.from({ length: roll(4) }, () => value(depth + 1));
      if (kind === 3) return items;
      return Object.fromEntries(items.map((item) => [SHARDS[roll(SHARDS.length)], item]));
    };
    for (let i = 0; i < 300; i++) {
      const clean = scrubValue(value(0));
      expect(scrubValue(clean)).toBe(clean);
    }
  });
});
