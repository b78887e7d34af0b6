import { describe, expect, test } from "vitest";
import { IS_LONG_FORM } from "../../testing/long-form.ts";
import { RULE_SET_EXAMPLES } from "../../testing/rule-set-examples.ts";
import { KnownValues } from "./known-values.ts";
import { loadRuleSet } from "./rule-set.ts";
import { scrubber } from "./scrub.ts";
import { SECRET_SHAPES } from "./secret-shapes.ts";

const KNOWN = new KnownValues(["aaaaaaaab", "abababababababc"]);
const { scrubText } = scrubber({ known: KNOWN, more: await loadRuleSet() });

const LENGTH = IS_LONG_FORM ? 300_000 : 150_000;
const full = (piece: string) => piece.repeat(Math.ceil(LENGTH / piece.length));

const examples = [...SECRET_SHAPES.map(({ example }) => example), ...Object.values(RULE_SET_EXAMPLES)];
const pieces = examples.flatMap((example) => [example.slice(0, 5), example.slice(0, -1), `-${example.slice(0, 12)}`]);
const more = [
  ...["eyJ", "-eyJ", "eyJaaaaaa.", "eyJaaaaaa..", "a", "a.", "ab", "://", "://a", "://a:", "@", "-", "_", " ", "1"],
  ...["-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END ", "bearer ", "bearer\t\t", "authorization: "],
  ...["\\", "\\\\n", "\\n", "\\u0041", "%", "%20", "%25", "%2525", "%2", "\\u00"],
  ...["\u001b[", "\u001b[3", "\u001b]a", "\\u001b]8;;", "\\e[", "\u009b1", "\\x1b"],
  // Beginnings that the rules of the set read on from: names without values, long middles.
  ...["ghs_1_", "SG.a.", `SG.a.${"w".repeat(260)} `, "secret_access_key ", "https://a", `xoxb-${"a".repeat(41)}-`],
  // Names of members, options and lines that are read on from each of their places.
  ...["value:", '"value":"a",', "name: token, value: no, ", '"name":\'', "]]></password>", "<password><![CDATA["],
  ...['"--password" , ', "--password \\\n", "docker run -u a:1 ", " -u a:b", "sshpass ", "mysql ", "login "],
  ...["abcdefghijklmnopqrst\n  ", "d29yZCB3b3JkIHdvcmQg\n", "776f726420776f726420776f7264\\n"],
];

// A pattern that went over its text once for every place where it could begin would take hours for these, not moments.
describe("a long text made to hold a pattern up", () => {
  test.each([...new Set([...pieces, ...more])])("of %j is cleaned", { timeout: 60_000 }, (piece) => {
    for (const text of [`eyJ ://a:b sk- SG. ${full(piece)}`, `${piece}${full("a")}`]) {
      expect(scrubText(text).length).toBeGreaterThan(0);
    }
  });
});
