import { expect, test } from "vitest";
import { newSession } from "../provider/session.ts";
import { promptFor } from "./model-prompt.ts";

test("what marks the data is never in the data", () => {
  const asked = {
    request: {
      protocol_version: "1.2",
      iteration: 1,
      artifact: { media_type: "Text/Plain; charset=utf-8", content: "one two" },
    },
    session: newSession("ses_1"),
    decisions: [],
    signal: new AbortController().signal,
  } as const;
  const marks = ["one", "two", "three"];
  const [system, user] = promptFor(asked, "one two", () => marks.shift() ?? "none left");
  expect(system?.content).toContain('"BEGIN name three"');
  expect(user?.content).toContain('BEGIN ABOUT three\n{"media_type":"text/plain"}\nEND ABOUT three');
  expect(user?.content).toContain("BEGIN ARTIFACT three\none two\nEND ARTIFACT three");
});
