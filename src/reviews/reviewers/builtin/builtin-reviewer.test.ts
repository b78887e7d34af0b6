import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../testing/temp-dir.ts";
import { directoryBackend } from "../../provider/directory-backend.ts";
import { takeTurn } from "../../provider/take-turn.ts";
import { builtinReviewer } from "./builtin-reviewer.ts";
import { ruleTable } from "./review-by-rules.ts";
import { isReviewedType } from "./rule.ts";

interface Answer {
  readonly feedback: {
    readonly confidence: { readonly level: string };
    readonly positive_points: readonly { readonly justification: string }[];
    readonly areas_for_improvement: readonly { readonly id: string; readonly description: string }[];
    readonly general_summary: string;
  };
}

/** A conversation with it, turn by turn. */
function conversation(media_type = "text/markdown") {
  const backend = directoryBackend(tempDir());
  let session: string | undefined;
  let iteration = 0;
  return async (content: unknown, ...decisions: [id: string, status: string][]): Promise<Answer["feedback"]> => {
    iteration++;
    const items = decisions.map(([id, status]) => ({ id, status, explanation: "so" }));
    const request = {
      protocol_version: "1.2",
      iteration,
      artifact: { media_type, content },
      applied_feedback: { items },
    };
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const taken = await takeTurn(backend, [builtinReviewer()], { bytes, ...(session ? { session } : {}) });
    if (taken.type !== "answered") throw new Error(taken.type);
    session = taken.sessionID;
    return (JSON.parse(taken.response) as Answer).feedback;
  };
}

const idsOf = ({ areas_for_improvement }: Answer["feedback"]) => areas_for_improvement.map(({ id }) => id);

describe("ids", () => {
  test("are the same in a repeated review, and do not change with what stands around", async () => {
    const text = "# Plan\n\nTODO: ask Ada\n\n## Cost\n\n## Risk\n\nThe owner is TBD.\n";
    const ids = idsOf(await conversation()(text));
    expect(ids).toHaveLength(3);
    expect(idsOf(await conversation()(text))).toEqual(ids);
    expect(idsOf(await conversation()(`Something new.\n\nAnd more.\n\n${text}\nThe end.\n`))).toEqual(ids);
  });

  test("stay with their matter when an earlier one is dealt with", async () => {
    const turn = conversation("application/javascript");
    const first = await turn("// TODO: one thing\n// TODO: other thing\n");
    const [one = "", other = ""] = idsOf(first);
    expect(idsOf(await turn("// TODO: other thing\n", [one, "accepted"]))).toEqual([other]);
  });
});

describe("a follow-up", () => {
  test("names what was dealt with, opens again what was not, and keeps quiet on what was rejected", async () => {
    const turn = conversation();
    const [fixed = "", open = "", refused = ""] = idsOf(
      await turn("TODO: first one\n\nTODO: second one\n\nTODO: third one"),
    );
    const second = await turn(
      "TODO: second one\n\nTODO: third one",
      [fixed, "accepted"],
      [open, "accepted"],
      [refused, "rejected"],
    );
    expect(second.positive_points).toMatchObject([{ justification: expect.stringContaining("first one") }]);
    expect(second.areas_for_improvement).toMatchObject([{ id: open, "x-reopened": true }]);
    expect(second.general_summary).toBe(
      "This is a rule check, not a review. 1 remark: 1 on completeness. Taken up before, and still there: 1. Dealt with since: 1.",
    );
  });

  test("raises what was rejected again when its place has changed", async () => {
    const turn = conversation();
    const [id = ""] = idsOf(await turn("Ask Ada. TODO: say how long"));
    expect(idsOf(await turn("Something new.\n\nAsk Ada. TODO: say how long", [id, "rejected"]))).toEqual([]);
    expect(idsOf(await turn("Ask Bob. TODO: say how long"))).toEqual([id]);
  });
});

describe("confidence", () => {
  test.each([[""], [" \n"], [null], [[]], [{}]])("is low on nothing, which has no remarks: %j", async (content) => {
    const feedback = await conversation("text/plain")(content);
    expect(feedback).toMatchObject({ confidence: { level: "low" }, areas_for_improvement: [] });
  });

  test.each([
    ["text/plain", "A text."],
    ["application/json", '{"a":1}'],
    ["application/json", "{"],
    ["application/json", 0],
    ["application/json", false],
  ])("is never more than low, because nobody has judged what it says: %s, %j", async (type, content) => {
    const { confidence, general_summary } = await conversation(type)(content);
    expect(confidence).toMatchObject({
      level: "low",
      justification: expect.stringContaining("no review of its content"),
    });
    expect(general_summary).toMatch(/^This is a rule check, not a review\. /);
  });

  test("says how far an artifact was read that is longer than the rules read", async () => {
    const { confidence } = await conversation("text/plain")("a\n".repeat(600_000));
    expect(confidence).toMatchObject({ justification: expect.stringContaining("only its first 1,000,000 characters") });
  });
});

test("a remark of a rule that is no more counts as neither open nor dealt with", async () => {
  const session = {
    sessionID: "s",
    last: 1,
    issued: [
      { id: "long-line.x.0123456789", aspect: "a", description: "d", recommendation: "r", part: "p", iterations: [1] },
    ],
    decisions: [],
  };
  const { positive_points } = await builtinReviewer().review({
    request: { protocol_version: "1.2", iteration: 2, artifact: { media_type: "text/plain", content: "A text." } },
    session,
    decisions: [{ id: "long-line.x.0123456789", status: "accepted", iteration: 1, known: true }],
    signal: new AbortController().signal,
  });
  expect(positive_points).toEqual([]);
});

test("more remarks than anybody reads are cut off, and that is a remark", async () => {
  const { areas_for_improvement } = await conversation("text/plain")(
    Array.from({ length: 300 }, (_, i) => `TODO: thing number ${i}`).join("\n\n"),
  );
  expect(areas_for_improvement).toHaveLength(26);
  expect(areas_for_improvement.at(-1)).toMatchObject({
    id: "more-remarks.not-listed",
    description: "At least 275 more remarks of the same kinds are not listed.",
  });
});

test.each([
  ["text/plain", true],
  ["text/x-anything", true],
  ["application/json", true],
  ["application/yaml", true],
  ["application/x-yaml", true],
  ["application/toml", true],
  ["application/xml", true],
  ["application/javascript", true],
  ["application/ecmascript", true],
  ["application/typescript", true],
  ["application/sql", true],
  ["application/graphql", true],
  ["application/x-sh", true],
  ["application/x-ndjson", true],
  ["application/problem+json", true],
  ["image/svg+xml", true],
  ["application/openapi+yaml", true],
  ["application/pdf", false],
  ["image/png", false],
  ["application/jsonx", false],
  ["video/json", false],
])("%s is reviewed: %s", (type, expected) => {
  expect(isReviewedType(type)).toBe(expected);
});

/** Texts that make a careless pattern or walk take for ever. */
const SIZE = 240_000;
const fill = (piece: string) => piece.repeat(SIZE / piece.length);

describe("a very large artifact", () => {
  test.each([
    ["text/markdown", "one line", fill("a")],
    ["text/markdown", "blanks", fill(" ").concat("x")],
    ["text/markdown", "brackets", fill("[")],
    ["text/markdown", "open links", fill("[a](")],
    ["text/markdown", "quotes and code", fill("`'\"")],
    ["text/markdown", "headings", fill("# a\n")],
    ["text/markdown", "quotes in quotes", fill("> ")],
    ["text/markdown", "a quote that goes on", `${"> ".repeat(500)}\n${fill("a\n").slice(2000)}`],
    ["text/markdown", "lists", fill("1. a\n\n")],
    ["text/markdown", "references", fill("[a]: b\n")],
    ["text/markdown", "links by reference", fill("[a][b]")],
    ["text/markdown", "fences", fill("```\n")],
    ["text/markdown", "HTML", fill("<a ")],
    ["text/x-diff", "files", fill("--- a\n+++ b.md\n@@ -0,0 +1 @@\n+TODO\n")],
    ["text/x-diff", "hunks", `--- a\n+++ b\n${fill("@@ -1 +1 @@\n+ \n")}`],
    ["text/plain", "short lines", fill("a\n")],
    ["text/plain", "questions", fill("Who is it? ")],
    ["text/plain", "marks", fill("TODO ")],
    ["text/plain", "words", fill("the the ")],
    ["application/javascript", "comments that never end", fill("/* ")],
    ["application/javascript", "braces", fill("function a(b) {\n")],
    ["application/javascript", "chains", fill("a.then(b)\n")],
    ["application/javascript", "catches", fill("catch (")],
    ["text/x-python", "handlers", fill("except a:\n")],
    ["application/json", "a list", `[${fill("0,")}0]`],
    ["application/json", "a text", `"${fill("a")}"`],
    ["application/json", "nulls", `[${fill('{"a":null},')}0]`],
    ["application/json", "what is not JSON", fill('{"')],
    ["application/json", "lists in lists", `${"[".repeat(SIZE / 2)}${"]".repeat(SIZE / 2)}`],
    ["application/json", "the same name", `{${fill('"a":1,')}"a":1}`],
    ["application/json", "a value of many", Array.from({ length: SIZE }, () => 0)],
    ["application/yaml", "dashes", fill("- ")],
  ])("of %s, %s, is reviewed with a bounded number of remarks", async (type, _, content) => {
    const { areas_for_improvement } = await conversation(type)(content);
    expect(areas_for_improvement.length).toBeLessThanOrEqual(101);
    expect(JSON.stringify(areas_for_improvement).length).toBeLessThan(100_000);
  });
});

test("docs/reviews.md has the table of rules", () => {
  const docs = readFileSync(new URL("../../../../docs/reviews.md", import.meta.url), "utf8");
  expect(docs).toContain(ruleTable());
});
