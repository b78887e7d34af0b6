import { describe, expect, test } from "vitest";
import { readJson, Unreadable } from "../json/exact-json.ts";
import { isStored, payload } from "./payload.ts";

const read = (text: string) => payload.read(readJson(text));

describe("a payload", () => {
  test.each([
    ['{"text":"b","content_hash":"a"}', '{"content_hash":"a","text":"b"}'],
    ['{"len_bytes":5,"content_hash":"a"}', '{"content_hash":"a","len_bytes":5}'],
    // Both: the text decides, and the length is lost.
    ['{"content_hash":"a","len_bytes":5,"text":""}', '{"content_hash":"a","text":""}'],
    ['{"content_hash":"a","len_bytes":"no number","text":"b"}', '{"content_hash":"a","text":"b"}'],
    // What one shape knows the other does not, and may be repeated there.
    ['{"content_hash":"a","len_bytes":5,"len_bytes":6,"text":"b"}', '{"content_hash":"a","text":"b"}'],
    ['{"content_hash":"a","len_bytes":5,"text":"b","text":"c"}', '{"content_hash":"a","len_bytes":5}'],
    // A text that is none leaves the other shape.
    ['{"content_hash":"a","len_bytes":5,"text":null}', '{"content_hash":"a","len_bytes":5}'],
    ['{"content_hash":"a","len_bytes":5,"text":7}', '{"content_hash":"a","len_bytes":5}'],
    // Nobody looks at hashes or lengths.
    ['{"content_hash":"","text":"b"}', '{"content_hash":"","text":"b"}'],
    ['{"content_hash":"NOT HEX","len_bytes":0}', '{"content_hash":"NOT HEX","len_bytes":0}'],
    ['{"content_hash":"a","len_bytes":18446744073709551615}', '{"content_hash":"a","len_bytes":18446744073709551615}'],
    ['{"content_hash":"a","text":"b","x":1,"x":2}', '{"content_hash":"a","text":"b"}'],
  ])("is told by what is there: %s", (text, written) => {
    expect(payload.print(read(text))).toBe(written);
    expect(payload.print(read(written))).toBe(written);
  });

  test.each([
    "{}",
    '{"content_hash":"a"}',
    '{"text":"b"}',
    '{"len_bytes":5}',
    '{"content_hash":null,"text":"b"}',
    '{"content_hash":"a","content_hash":"a","text":"b"}',
    '{"content_hash":"a","content_hash":"a","len_bytes":5}',
    '{"content_hash":"a","text":"b","text":"b"}',
    '{"content_hash":"a","len_bytes":-1}',
    '{"content_hash":"a","len_bytes":5.0}',
    '{"content_hash":"a","len_bytes":18446744073709551616}',
    '["a","b"]',
    '"text"',
    "null",
  ])("that has neither shape is refused: %s", (text) => {
    expect(() => read(text)).toThrow(Unreadable);
  });

  test("is stored when it has a length and no text", () => {
    expect(isStored(read('{"content_hash":"a","len_bytes":5}'))).toBe(true);
    expect(isStored(read('{"content_hash":"a","len_bytes":5,"text":""}'))).toBe(false);
  });
});
