import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../testing/temp-dir.ts";
import { directoryHome } from "../../provider/directory-home.ts";
import { takeTurn } from "../../provider/take-turn.ts";
import { builtinReviewer } from "./builtin-reviewer.ts";
import { isReviewedType } from "./kinds.ts";
import { ruleTable } from "./rules.ts";

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
  const home = directoryHome(tempDir());
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
    const taken = await takeTurn(home, [builtinReviewer()], { bytes, ...(session ? { session } : {}) });
    if (taken.type !== "answered") throw new Error(taken.type);
    session = taken.sessionID;
    return (JSON.parse(taken.response) as Answer).feedback;
  };
}

const idsOf = ({ areas_for_improvement }: Answer["feedback"]) => areas_for_improvement.map(({ id }) => id);

describe("ids", () => {
  test("are the same in a repeated review, and do not change with what stands around", async () => {
    const text = "# Plan\n\nTODO: ask Ada\n\n## Cost\n\n## Risk\n\nWho pays?\n";
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
      "1 remark: 1 on completeness. Taken up before, and still there: 1. Dealt with since: 1.",
    );
  });

  test("raises what was rejected again when its place has changed", async () => {
    const turn = conversation("application/javascript");
    const body = (n: number) => `function big() {\n${"  f();\n".repeat(n)}}\n`;
    const [id = ""] = idsOf(await turn(body(90)));
    expect(idsOf(await turn(`${body(90)}g();\n`, [id, "rejected"]))).toEqual([]);
    expect(idsOf(await turn(body(120)))).toEqual([id]);
  });
});

describe("confidence", () => {
  test.each([[""], [" \n"], [null], [[]], [{}]])("is low on nothing, which has no remarks: %j", async (content) => {
    const feedback = await conversation("text/plain")(content);
    expect(feedback).toMatchObject({ confidence: { level: "low" }, areas_for_improvement: [] });
  });

  test("is low on what is not what it says, high on what can be read, and else medium", async () => {
    expect((await conversation("application/json")("{")).confidence.level).toBe("low");
    expect((await conversation("application/json")('{"a":1}')).confidence.level).toBe("high");
    expect((await conversation("text/plain")("A text.")).confidence.level).toBe("medium");
  });

  test.each([[0], [false], [7]])("is there for %j, which is a value", async (content) => {
    expect((await conversation("application/json")(content)).confidence.level).toBe("high");
  });
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
const SIZE = 1024 * 1024;
const fill = (piece: string) => piece.repeat(Math.ceil(SIZE / piece.length));

describe("a very large artifact", () => {
  test.each([
    ["text/markdown", "one line", fill("a")],
    ["text/markdown", "blanks", fill(" ").concat("x")],
    ["text/markdown", "brackets", fill("[")],
    ["text/markdown", "open links", fill("[a](")],
    ["text/markdown", "quotes and code", fill("`'\"")],
    ["text/markdown", "headings", fill("# a\n")],
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
