import { expect, test } from "vitest";
import { scrubber } from "../../secrets/scrub.ts";
import { scrubLine } from "./scrub-line.ts";

const { scrubText } = scrubber({ known: ["hunter22", "83921746"] });
const TOKEN = `ghp_${"a1B2".repeat(9)}`;

test.each([
  ["a row without secrets", ' {"type":"annotation" , "event_id":1.0e0 ,"kind":"x\\u0041"} '],
  ["a comment", "# nothing here"],
  ["what is no JSON", "{"],
])("%s stays as it is", (_, line) => {
  expect(scrubLine(line, scrubText)).toBe(line);
});

test.each([
  ["a comment", `# see ${TOKEN}`, "# see [REDACTED]"],
  [
    "the texts of a row, and nothing else of it",
    `{ "type":"annotation","event_id":18446744073709551615,"kind":"note", "x":[1.50,"a ${TOKEN} b"],"hunter22":"\\u0041" }`,
    '{ "type":"annotation","event_id":18446744073709551615,"kind":"note", "x":[1.50,"a [REDACTED] b"],"[REDACTED]":"\\u0041" }',
  ],
  [
    "a secret that is written in escapes",
    `{"type":"annotation","event_id":1,"kind":"note","evidence":"\\u0068unter22"}`,
    `{"type":"annotation","event_id":1,"kind":"note","evidence":"[REDACTED]"}`,
  ],
  [
    "a key of several lines, up to the end of its text",
    '{"type":"annotation","event_id":1,"evidence":"-----BEGIN RSA PRIVATE KEY-----\\nMIIE","kind":"note"}',
    '{"type":"annotation","event_id":1,"evidence":"[REDACTED]","kind":"note"}',
  ],
  [
    "what is no text, though nobody can read the row then",
    '{"type":"annotation","event_id":1,"kind":"note","evidence":"hunter22","pin":83921746}',
    '{"type":"annotation","event_id":1,"kind":"note","evidence":"[REDACTED]","pin":[REDACTED]}',
  ],
])("secrets are taken out of %s", (_, line, clean) => {
  expect(scrubLine(line, scrubText)).toBe(clean);
  expect(scrubLine(clean, scrubText)).toBe(clean);
});
