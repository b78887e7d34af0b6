import { describe, expect, test } from "vitest";
import { formatOf, peek } from "./normalize.ts";

describe("a file is taken for", () => {
  test.each([
    ["tape", "by the version in its header", '{"type":"header","version":1,"harn_version":"1"}'],
    ["sidecar", "by the version in its header", '{"harn_version":"1","schema_version":1,"type":"header"}'],
    ["sidecar", "by a version that is too new", '{"type":"header","schema_version":99}'],
    ["tape", "by a record in place of the header", '{"type":"record","seq":0,"schema_version":1}'],
    ["sidecar", "by an annotation in place of the header", '{"type":"annotation","version":1}'],
    ["sidecar", "by a comment", "\n  # about this\n{"],
    ["sidecar", "by a comment after a byte-order mark", "\ufeff# about this\n"],
    ["tape", "by its header after a byte-order mark", '\ufeff{"type":"header","version":1}'],
    ["sidecar", "by a header that is cut", '{"type":"header","schema_version'.concat('":')],
    ["tape", "by a header that is cut", '{"type":"header","version":1,"ar'],
    ["tape", "by what follows a header that could be either", '{"type":"header"}\n\n{"type":"record","seq":0}'],
    ["sidecar", "by what follows a header that could be either", '{"type":"header"}\r\n{"type":"annotation"}'],
    ["sidecar", "by what follows a line that is no object", '[]\n{"type":"annotation"}'],
    ["sidecar", "whatever is said inside it", '{"type":"header","schema_version":1,"x":{"version":1,"type":"record"}}'],
  ] as const)("a %s %s", (format, _, text) => {
    expect(formatOf(text, format === "tape" ? "x.jsonl" : "x.tape")).toBe(format);
  });

  test.each(["", "\n\n", "{}", "nonsense", '{"version":1,"schema_version":1}'])("what its name says: %j", (text) => {
    expect(formatOf(text, "run.tape.annotations.jsonl")).toBe("sidecar");
    expect(formatOf(text, "run.tape")).toBe("tape");
  });
});

test("looking at a file takes nothing away from it", async () => {
  const pieces = ['{"type":"head', 'er","schema_version":1}\n', "rest"].map((text) => new TextEncoder().encode(text));
  async function* arriving() {
    yield* pieces;
  }
  const { bytes } = await peek("x", arriving());
  const seen: Uint8Array[] = [];
  for await (const piece of bytes) seen.push(piece);
  expect(seen).toEqual(pieces);
});
