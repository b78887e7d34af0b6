import { expect, test } from "vitest";
import { randomJsonText } from "../../testing/random-json.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { repeatedMember } from "./check-json.ts";

const found = (text: string) => repeatedMember(text, JSON.parse(text));

test.each([
  ['{"a":1,"a":2}', "a"],
  ['{"a":1,"\\u0061":2}', "a"],
  ['{"x":[{"b":{},"c":1, "b" : 3}]}', "b"],
  ['{"":1,"a:b":2,"":3}', ""],
  ['{"a\\"":1,"b":[],"a\\u0022":2}', 'a"'],
  ['{"__proto__":1,"__proto__":2}', "__proto__"],
])("a member that is there twice is found in %s", (text, name) => expect(found(text)).toBe(name));

test.each(['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', '["a:","b\\\\",":",{"a":"a\\":"}]', "1", '":"', "{}"])(
  "in %s nothing is there twice",
  (text) => expect(found(text)).toBeUndefined(),
);

test("a repeated name is found in random texts exactly when a reader of names finds one", () => {
  const random = randomFrom(7);
  for (let i = 0; i < 500; i++) {
    const text = randomJsonText(random);
    const value: unknown = JSON.parse(text);
    expect(repeatedMember(text, value) !== undefined, text).toBe(JSON.stringify(value).length !== spelled(text));
  }
});

/** How long the text would be as JSON.stringify writes it, with members that are there twice. */
function spelled(text: string): number {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g) ?? [];
  return tokens.reduce(
    (length, token) => length + (/^[[\]{},:]$/.test(token) ? 1 : JSON.stringify(JSON.parse(token)).length),
    0,
  );
}
