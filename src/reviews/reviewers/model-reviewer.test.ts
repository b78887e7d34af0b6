import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  answer,
  inTurn,
  PLAN,
  type ReviewedTurn,
  remark,
  reviewBy,
  says,
  sessionAfter,
} from "../../testing/model-review.ts";
import { ModelServer } from "../../testing/model-server.ts";

let server: ModelServer;
beforeEach(async () => {
  server = await ModelServer.start(() => says(answer()));
});
afterEach(() => server.close());

const review = (turn?: ReviewedTurn) => reviewBy(server, turn);

describe("a model's review", () => {
  test("is taken over with ids of ours", async () => {
    const { remarks, ...rest } = await review();
    expect(rest).toEqual({
      confidence: { level: "high", justification: "It is short." },
      positive_points: [{ aspect: "structure", justification: "In order." }],
      general_summary: "Nearly there.",
    });
    expect(remarks).toEqual([
      {
        id: expect.stringMatching(/^safety\.[0-9a-f]{12}$/),
        aspect: "safety",
        description: "Nothing is verified.",
        recommendation: "Compare the counts.",
        part: expect.any(String),
      },
    ]);
  });

  test("has the same ids another time, also when more of the line is quoted or other words are used", async () => {
    const [first] = (await review()).remarks;
    server.behave(
      inTurn(says(answer({ remarks: [remark({ quote: "2. Copy the data.", description: "No check." })] }))),
    );
    const [second] = (await review()).remarks;
    expect(second?.id).toBe(first?.id);
  });

  test("tells two matters of one aspect in one line apart", async () => {
    server.behave(inTurn(says(answer({ remarks: [remark(), remark({ description: "Another matter." })] }))));
    const ids = (await review()).remarks.map(({ id }) => id);
    expect(ids).toEqual([ids[0], `${ids[0]}.2`]);
  });

  test("may stand in a fence", async () => {
    server.behave(inTurn({ type: "text", text: `\`\`\`json\n${JSON.stringify(answer(), null, 2)}\n\`\`\`` }));
    expect((await review()).remarks).toHaveLength(1);
    expect(server.calls).toHaveLength(1);
  });

  test("is not looked for in a fence of nothing but lines for ages", async () => {
    const text = `\`\`\`${"\n".repeat(1 << 20)}x`;
    server.behave(inTurn({ type: "text", text }, says(answer())));
    expect((await review()).remarks).toHaveLength(1);
  });

  test("quotes from an artifact that is no text as it is shown", async () => {
    server.behave(inTurn(says(answer({ remarks: [remark({ quote: '"port": 80' })] }))));
    expect((await review({ content: { server: { port: 80 } } })).remarks).toHaveLength(1);
  });

  test.each([[""], [" \n"], [null], [[]], [{}]])(
    "of nothing, %j, costs no call and is of low confidence",
    async (content) => {
      const { confidence, remarks } = await review({ content });
      expect([confidence.level, remarks]).toEqual(["low", []]);
      expect(server.calls).toEqual([]);
    },
  );

  test.each([[0], [false]])("of the value %j is a review", async (content) => {
    server.behave(inTurn(says(answer({ remarks: [] }))));
    expect((await review({ content })).confidence.level).toBe("high");
  });
});

describe("an answer that cannot be used", () => {
  test.each([
    ["prose", "I think it is fine.", "it is not one JSON object"],
    ["a list", "[]", "it is not one JSON object"],
    [
      "another form",
      JSON.stringify(answer({ confidence: { level: "sure", justification: "x" } })),
      "/confidence/level",
    ],
    ["no summary", JSON.stringify({ ...answer(), general_summary: undefined }), "general_summary"],
    [
      "an empty description",
      JSON.stringify(answer({ remarks: [remark({ description: "" })] })),
      "/remarks/0/description",
    ],
    [
      "a passage that is not there",
      JSON.stringify(answer({ remarks: [remark({ quote: "Delete it" })] })),
      "/remarks/0/quote",
    ],
  ])("is told back once: %s", async (_, text, problem) => {
    server.behave(inTurn({ type: "text", text }, says(answer())));
    expect((await review()).remarks).toHaveLength(1);
    expect(server.calls).toHaveLength(2);
    const [first, second] = server.calls;
    expect(second?.messages.slice(0, 2)).toEqual(first?.messages);
    expect(second?.messages[2]).toEqual({ role: "assistant", content: text });
    expect(second?.user).toContain(problem);
  });

  test("twice is no review", async () => {
    server.behave(inTurn({ type: "text", text: "Sorry." }));
    await expect(review()).rejects.toMatchObject({ code: "model_failed" });
    expect(server.calls).toHaveLength(2);
  });

  test("because it was too long says so", async () => {
    server.behave(inTurn({ type: "text", text: '{"confidence":', finish: "length" }, says(answer())));
    await review();
    expect(server.calls[1]?.user).toContain("too long");
  });

  test("because it was withheld is not asked for again", async () => {
    server.behave(inTurn({ type: "text", text: "", finish: "content_filter" }));
    await expect(review()).rejects.toMatchObject({ code: "model_failed" });
    expect(server.calls).toHaveLength(1);
  });

  test("loses the remarks about passages that are not there, and says so", async () => {
    server.behave(inTurn(says(answer({ remarks: [remark({ quote: "Delete it" }), remark()] }))));
    const { remarks, general_summary } = await review();
    expect(remarks.map(({ description }) => description)).toEqual(["Nothing is verified."]);
    expect(general_summary).toContain("Left out: 1 of the remarks");
  });

  test("is used as far as it goes when the second one is worse", async () => {
    const half = answer({ remarks: [remark({ quote: "Delete it" }), remark()] });
    server.behave(inTurn(says(half), { type: "text", text: "Sorry." }));
    expect((await review()).remarks.map(({ description }) => description)).toEqual(["Nothing is verified."]);
  });

  test("is no review when it loses all of them: it would look as if nothing were left to say", async () => {
    server.behave(inTurn(says(answer({ remarks: [remark({ quote: "Delete it" })] }))));
    await expect(review()).rejects.toMatchObject({ code: "model_failed" });
  });
});

describe("a later turn", () => {
  test("shows the model what was remarked and decided", async () => {
    const first = await review();
    const id = first.remarks[0]?.id ?? "";
    await review({
      session: sessionAfter(first),
      items: [{ id, status: "rejected", reason_code: "infeasible", explanation: "no time" }],
    });
    const shown = JSON.parse(blockOf(server.calls[1]?.user ?? "", "EARLIER")) as object;
    expect(shown).toMatchObject({
      id,
      aspect: "safety",
      decision: "rejected",
      reason_code: "infeasible",
      explanation: "no time",
    });
  });

  test("keeps the id of a matter that the model recognises, wherever it stands now", async () => {
    const first = await review();
    const id = first.remarks[0]?.id;
    server.behave(
      inTurn(says(answer({ remarks: [remark({ aspect: "testing", quote: "Copy everything", same_as: id })] }))),
    );
    const second = await review({ session: sessionAfter(first), content: "1. Copy everything at night.\n" });
    expect(second.remarks[0]?.id).toBe(id);
    expect(second.remarks[0]?.part).not.toBe(first.remarks[0]?.part);
  });

  test("takes the earlier passage for the one meant as long as it stands", async () => {
    const first = await review();
    server.behave(
      inTurn(says(answer({ remarks: [remark({ quote: "Stop the importer", same_as: first.remarks[0]?.id })] }))),
    );
    const second = await review({ session: sessionAfter(first), content: `${PLAN}3. Start it.\n` });
    expect(second.remarks[0]?.part).toBe(first.remarks[0]?.part);
  });

  test("gives one known id to one remark, and an unknown one to none", async () => {
    const first = await review();
    const id = first.remarks[0]?.id;
    const both = [
      remark({ same_as: id }),
      remark({ quote: "Stop", same_as: id }),
      remark({ quote: "# Move", same_as: "made-up-id-1" }),
    ];
    server.behave(inTurn(says(answer({ remarks: both }))));
    const ids = (await review({ session: sessionAfter(first) })).remarks.map((one) => one.id);
    expect(ids[0]).toBe(id);
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain("made-up-id-1");
  });
});

/** What stands between the lines of one name. */
function blockOf(user: string, name: string): string {
  return new RegExp(`^BEGIN ${name} (\\w+)\\n(.*)\\nEND ${name} \\1$`, "ms").exec(user)?.[2] ?? "";
}
