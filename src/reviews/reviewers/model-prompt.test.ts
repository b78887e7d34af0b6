import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { answer, PLAN, type ReviewedTurn, reviewBy, says, sessionAfter } from "../../testing/model-review.ts";
import { ModelServer } from "../../testing/model-server.ts";
import { newSession } from "../provider/session.ts";
import { changesIn, promptFor } from "./model-prompt.ts";

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

function changes(was: unknown, is: unknown): string | undefined {
  const artifact = (content: unknown) => ({ media_type: "text/plain", content });
  return changesIn({
    request: { protocol_version: "1.2", iteration: 2, artifact: artifact(is) },
    session: { ...newSession("ses_1"), last: 1, ...(was === undefined ? {} : { artifact: artifact(was) }) },
  });
}

describe("what a model is shown of the changes since the turn before", () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await ModelServer.start(() => says(answer()));
  });
  afterEach(() => server.close());
  const prompted = async (turn: ReviewedTurn) => {
    await reviewBy(server, turn);
    return server.calls.at(-1)?.user ?? "";
  };

  test("stands between the marks, before the artifact; in a first turn there is none", async () => {
    expect(await prompted({})).not.toContain("CHANGES");
    const session = {
      ...sessionAfter(await reviewBy(server)),
      artifact: { media_type: "text/markdown", content: PLAN },
    };
    const user = await prompted({ session, content: PLAN.replace("Copy the data", "Copy the data and compare") });
    expect(user).toMatch(
      /BEGIN CHANGES ([0-9a-f]{32})\n--- before\n\+\+\+ now\n@@.*\n-2\. Copy the data\.\n\+2\. Copy the data and compare\.\nEND CHANGES \1\n\nBEGIN ARTIFACT/s,
    );
  });

  test("is a difference of lines, of other values as the model sees them", () => {
    expect(changes("a\nb\n", "a\nc\n")).toBe("--- before\n+++ now\n@@ -1,2 +1,2 @@\n a\n-b\n+c");
    expect(changes({ port: 80 }, { port: 81 })).toContain('-  "port": 80\n+  "port": 81');
    expect(changes("a", "a")).toBe("nothing");
  });

  test("is not there where the artifact of the turn before is not known, or too long to be compared", () => {
    expect(changes(undefined, "a")).toBeUndefined();
    expect(changes("a", "b".repeat(2_000_000))).toBeUndefined();
  });

  test("is short, however much has changed", () => {
    const lines = (word: string) => `${word}\n`.repeat(10_000);
    const many = changes(lines("was"), lines("is")) ?? "";
    expect(many.length).toBeLessThan(21_000);
    expect(many).toMatch(/\n\(\d+ more lines\)$/);
    const long = changes("a".repeat(500_000), "b".repeat(500_000)) ?? "";
    expect(long.length).toBeLessThan(3_000);
    expect(long).toContain(`-${"a".repeat(999)}…`);
  });
});
