import { describe, expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { DEFAULT_AGENT, type ReviewAsked, type Reviewer } from "../reviewer.ts";
import { directoryBackend } from "./directory-backend.ts";
import type { Review, ReviewRemark } from "./finish-turn.ts";
import { takeTurn } from "./take-turn.ts";

const remark = (id: string, part = "p"): ReviewRemark => ({
  id,
  aspect: "clarity",
  description: `about ${id}`,
  recommendation: "do it",
  part,
});

function reviewOf(...remarks: ReviewRemark[]): Review {
  return {
    confidence: { level: "high", justification: "sure" },
    positive_points: [],
    remarks,
    general_summary: "so it is",
  };
}

/** Says what it is told to say, in turn, and remembers what it was asked. */
function scripted(...says: (Review | Error)[]): Reviewer & { readonly asked: ReviewAsked[] } {
  const asked: ReviewAsked[] = [];
  return {
    agent: DEFAULT_AGENT,
    asked,
    reviews: (type) => type.startsWith("text/"),
    review: async (one) => {
      const next = says[Math.min(asked.push(one) - 1, says.length - 1)] ?? reviewOf();
      if (next instanceof Error) throw next;
      return next;
    },
  };
}

const request = (iteration: number, more: object = {}) => ({
  protocol_version: "1.2",
  iteration,
  artifact: { media_type: "text/plain", content: `version ${iteration}` },
  ...more,
});
const decided = (...items: [id: string, status: string][]) => ({
  applied_feedback: { items: items.map(([id, status]) => ({ id, status, reason_code: "r", explanation: "e" })) },
});

/** A provider of its own, whose turns all go to one session unless told otherwise. */
function provider(reviewer: Reviewer, options: Parameters<typeof takeTurn>[3] = {}) {
  const backend = directoryBackend(tempDir());
  let session: string | undefined;
  const turn = async (value: unknown, more: { session?: string; fork?: boolean; agent?: string } = {}) => {
    const bytes = new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
    const named = more.session ?? session;
    const taken = await takeTurn(
      backend,
      [reviewer],
      { bytes, ...more, ...(named ? { session: named } : {}) },
      options,
    );
    if (taken.type !== "answered") throw new Error(taken.type);
    session ??= taken.sessionID;
    expect(taken.response).not.toContain("\n");
    return { ...taken, answer: JSON.parse(taken.response) };
  };
  return { backend, turn, state: async () => backend.read(session ?? "") };
}

const A = "first-remark-1";
const B = "second-remark-2";

describe("the order of turns", () => {
  test("the same request again gets the same answer, without another review and without a change of state", async () => {
    const reviewer = scripted(reviewOf(remark(A)), reviewOf(remark(B)));
    const { turn, state } = provider(reviewer);
    const first = await turn(request(1));
    const before = await state();
    const { protocol_version, iteration, artifact } = request(1);
    const again = await turn(JSON.stringify({ artifact, iteration, protocol_version }, null, 2));
    expect(again.answer).toEqual(first.answer);
    expect(reviewer.asked).toHaveLength(1);
    expect(await state()).toEqual(before);
  });

  test("iteration 1 in other words begins a new conversation, once it succeeds", async () => {
    const reviewer = scripted(reviewOf(remark(A)), new Error("no"), reviewOf(remark(B)));
    const { turn, state } = provider(reviewer);
    await turn(request(1));
    const anew = request(1, { "x-other": 1, ...decided([A, "accepted"]) });
    const failed = await turn(anew);
    expect(failed.answer.applied_feedback_ack.items).toEqual([{ id: A, processing_status: "unknown_id" }]);
    expect((await state())?.issued.map(({ id }) => id)).toEqual([A]);
    await turn(anew);
    expect((await state())?.issued.map(({ id }) => id)).toEqual([B]);
    const next = await turn(request(2, decided([A, "accepted"], [B, "accepted"])));
    expect(statuses(next.answer)).toEqual(["unknown_id", "acknowledged"]);
  });

  test("a turn that was answered before is refused when it comes in other words", async () => {
    const { turn, state } = provider(scripted(reviewOf()));
    await turn(request(1));
    await turn(request(2));
    const before = await state();
    const { answer } = await turn(request(2, { "x-other": 1 }));
    expect(answer).toMatchObject({ status: "error", iteration: 2, error: { code: "INVALID_REQUEST" } });
    expect(answer).not.toHaveProperty("feedback");
    expect(await state()).toEqual(before);
  });

  test("a gap is answered with a warning: of its own kind on a new session", async () => {
    const { turn } = provider(scripted(reviewOf()));
    expect(warnings((await turn(request(3))).answer)).toEqual(["first_turn_not_1"]);
    expect(warnings((await turn(request(4))).answer)).toEqual([]);
    expect(warnings((await turn(request(7))).answer)).toEqual(["iteration_gap"]);
  });

  test("errors use up no iteration", async () => {
    const { turn } = provider(scripted(reviewOf()));
    await turn(request(1));
    await turn(request(2, { artifact: { media_type: "image/png", content: "" } }));
    await turn(request(2, { artifact: {} }));
    expect((await turn(request(2))).answer).toMatchObject({ status: "success", iteration: 2 });
  });

  test("an error echoes the iteration, or names the next one when it cannot be read", async () => {
    const { turn } = provider(scripted(reviewOf()));
    expect((await turn("{")).answer.iteration).toBe(1);
    await turn(request(1));
    await turn(request(2));
    expect((await turn("{")).answer.iteration).toBe(3);
    expect((await turn(request(9, { protocol_version: "9" }))).answer.iteration).toBe(9);
  });
});

describe("a new session", () => {
  test("is opened and can be gone on with, also when its first request is wrong", async () => {
    const { turn, backend } = provider(scripted(reviewOf()));
    const { sessionID } = await turn("not json");
    expect(await backend.read(sessionID)).toMatchObject({ last: 0 });
    expect((await turn(request(1), { session: sessionID })).answer.status).toBe("success");
  });

  test("has an id of the command's form", async () => {
    const { sessionID } = await provider(scripted(reviewOf())).turn(request(1));
    expect(sessionID).toMatch(/^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
  });
});

const statuses = (answer: { applied_feedback_ack?: { items: { processing_status: string }[] } }) =>
  answer.applied_feedback_ack?.items.map((one) => one.processing_status);
const warnings = (answer: { "x-warnings"?: { code: string }[] }) =>
  (answer["x-warnings"] ?? []).map(({ code }) => code);

describe("acknowledgements", () => {
  test("know the ids of every earlier turn of this session, to the letter, and none of this one's answer", async () => {
    const { turn } = provider(scripted(reviewOf(remark(A)), reviewOf(remark(B)), reviewOf(remark("third-remark-3"))));
    await turn(request(1));
    await turn(request(2));
    const items = [A, B, A.toUpperCase(), ` ${A}`, "third-remark-3", A].map((id): [string, string] => [id, "accepted"]);
    const { answer } = await turn(request(3, decided(...items)));
    expect(answer.applied_feedback_ack.items.map((one: { id: string }) => one.id)).toEqual(items.map(([id]) => id));
    expect(statuses(answer)).toEqual([
      "acknowledged",
      "acknowledged",
      "unknown_id",
      "unknown_id",
      "unknown_id",
      "acknowledged",
    ]);
    expect(warnings(answer)).toEqual(["duplicate_decision"]);
  });

  test("know no ids of another session", async () => {
    const { turn } = provider(scripted(reviewOf(remark(A))));
    const { sessionID } = await turn(request(1));
    const other = provider(scripted(reviewOf()));
    await other.turn(request(1));
    expect(sessionID).not.toBe("");
    expect(statuses((await other.turn(request(2, decided([A, "accepted"])))).answer)).toEqual(["unknown_id"]);
  });

  test("are there for an empty list, and not there without decisions", async () => {
    const { turn } = provider(scripted(reviewOf()));
    await turn(request(1));
    expect((await turn(request(2, decided()))).answer.applied_feedback_ack).toEqual({ items: [] });
    expect((await turn(request(3))).answer).not.toHaveProperty("applied_feedback_ack");
  });

  test("are part of errors that could read the decisions, which then count once however often they are sent", async () => {
    const { turn, state } = provider(scripted(reviewOf(remark(A)), new Error("no"), new Error("no"), reviewOf()));
    await turn(request(1));
    for (const code of ["INTERNAL_ERROR", "INTERNAL_ERROR"]) {
      const { answer } = await turn(request(2, decided([A, "rejected"])));
      expect(answer).toMatchObject({ status: "error", error: { code } });
      expect(statuses(answer)).toEqual(["acknowledged"]);
      expect((await state())?.decisions).toMatchObject([{ id: A, status: "rejected", known: true }]);
    }
    const unsupported = { artifact: { media_type: "image/png", content: "" }, ...decided([A, "partial"]) };
    const { answer } = await turn(request(2, unsupported));
    expect(answer.error.code).toBe("UNSUPPORTED_MEDIA_TYPE");
    expect(statuses(answer)).toEqual(["acknowledged"]);
    expect((await state())?.decisions).toMatchObject([{ id: A, status: "partial", known: true }]);
    expect((await turn(request(2, { applied_feedback: null }))).answer).not.toHaveProperty("applied_feedback_ack");
  });

  test("come with a warning for what was decided without a reason", async () => {
    const { turn } = provider(scripted(reviewOf(remark(A))));
    await turn(request(1));
    const items = [
      { id: A, status: "rejected" },
      { id: A, status: "partial", reason_code: "later" },
      { id: A, status: "rejected", explanation: "no" },
      { id: A, status: "accepted" },
    ];
    const { answer } = await turn(request(2, { applied_feedback: { items } }));
    expect(warnings(answer).filter((code) => code === "bare_decision")).toHaveLength(2);
  });

  test("stay readable however many warnings there are", async () => {
    const { turn } = provider(scripted(reviewOf()));
    const items = Array.from({ length: 500 }, () => ({ id: "x".repeat(5000), status: "rejected" }));
    const { answer } = await turn(request(1, { applied_feedback: { items } }));
    expect(warnings(answer)).toHaveLength(51);
    expect(warnings(answer).at(-1)).toBe("more_warnings");
    expect(answer["x-warnings"][0].message.length).toBeLessThan(200);
  });
});

describe("a follow-up", () => {
  const ids = (answer: { feedback: { areas_for_improvement: { id: string }[] } }) =>
    answer.feedback.areas_for_improvement.map(({ id }) => id);

  test("does not repeat a rejected remark until its part changes, and then until that is rejected too", async () => {
    const { turn } = provider(
      scripted(
        reviewOf(remark(A)),
        reviewOf(remark(A)),
        reviewOf(remark(A, "changed")),
        reviewOf(remark(A, "changed")),
      ),
    );
    await turn(request(1));
    expect(ids((await turn(request(2, decided([A, "rejected"])))).answer)).toEqual([]);
    expect(ids((await turn(request(3))).answer)).toEqual([A]);
    expect(ids((await turn(request(4))).answer)).toEqual([A]);
    expect(ids((await turn(request(5, decided([A, "rejected"])))).answer)).toEqual([]);
  });

  test.each([["accepted"], ["partial"]])("opens a remark again that was %s and still holds", async (status) => {
    const { turn } = provider(scripted(reviewOf(remark(A), remark(B))));
    await turn(request(1));
    const { answer } = await turn(request(2, decided([A, status])));
    const { part: _, ...shown } = remark(A);
    expect(answer.feedback.areas_for_improvement[0]).toEqual({ ...shown, "x-reopened": true });
    expect(answer.feedback.areas_for_improvement[1]).not.toHaveProperty("x-reopened");
  });

  test("is reviewed with what was remarked and decided before, and the artifact as it was", async () => {
    const reviewer = scripted(reviewOf(remark(A)));
    const { turn } = provider(reviewer);
    await turn(request(1));
    await turn(request(2, decided([A, "accepted"])));
    expect(reviewer.asked[1]).toMatchObject({
      session: { last: 1, issued: [{ id: A, iterations: [1] }], artifact: { content: "version 1" } },
      decisions: [{ id: A, status: "accepted", known: true }],
    });
  });
});

describe("a fork", () => {
  test("goes on under a new id and leaves the session as it was", async () => {
    const { turn, backend } = provider(scripted(reviewOf(remark(A))));
    const { sessionID } = await turn(request(1));
    const before = await backend.read(sessionID);
    const forked = await turn(request(2, decided([A, "accepted"])), { session: sessionID, fork: true });
    expect(forked.sessionID).not.toBe(sessionID);
    expect(statuses(forked.answer)).toEqual(["acknowledged"]);
    expect(await backend.read(sessionID)).toEqual(before);
    expect(await backend.read(forked.sessionID)).toMatchObject({ sessionID: forked.sessionID, last: 2 });
  });

  test("of a session that is not there is no session", async () => {
    const bytes = new TextEncoder().encode("{}");
    const session = "ses_0123456789abABCDEFGHIJKLMN";
    for (const fork of [true, false]) {
      const taken = takeTurn(directoryBackend(tempDir()), [scripted()], { bytes, session, fork });
      expect(await taken).toEqual({ type: "unknown" });
    }
  });
});

describe("a reviewer that fails", () => {
  test("is answered for without a word of what it threw", async () => {
    const told: unknown[] = [];
    const secret = new Error("/etc/passwd at Object.<anonymous> (/srv/x.js:1:1) version 1");
    const { turn } = provider(scripted(secret), { onFailure: (error) => told.push(error) });
    const { answer } = await turn(request(1));
    expect(answer.error).toEqual({ code: "INTERNAL_ERROR", message: "the review could not be made" });
    expect(told).toEqual([secret]);
  });

  test("by taking too long is told to stop", async () => {
    let stopped = false;
    const slow: Reviewer = {
      ...scripted(),
      review: ({ signal }) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            stopped = true;
          });
        }),
    };
    const { turn } = provider(slow, { reviewLimitMs: 20 });
    expect((await turn(request(1))).answer.error).toEqual({
      code: "INTERNAL_ERROR",
      message: "the review took too long",
    });
    expect(stopped).toBe(true);
  });

  test.each([
    ["malformed", [remark("Not An Id")]],
    ["too short", [remark("short")]],
    ["repeated", [remark(A), remark(A)]],
  ])("by giving ids that are %s is not believed", async (_, remarks) => {
    const { turn } = provider(scripted(reviewOf(...remarks)));
    expect((await turn(request(1))).answer.error.code).toBe("INTERNAL_ERROR");
  });
});

test("an agent that nobody knows is replaced by the one who is always known, and that is told", async () => {
  const { turn } = provider(scripted(reviewOf()));
  expect(await turn(request(1), { agent: "somebody-else" })).toMatchObject({ fellBack: true });
  expect(await turn(request(2), { agent: DEFAULT_AGENT })).toMatchObject({ fellBack: false });
});

test("the message about a type that is not reviewed is short, whatever the request says", async () => {
  const { turn } = provider(scripted());
  const artifact = { media_type: `image/${"x".repeat(10_000)}; a="secret"`, content: "artifact" };
  const { answer } = await turn(request(1, { artifact }));
  expect(answer.error.code).toBe("UNSUPPORTED_MEDIA_TYPE");
  expect(answer.error.message.length).toBeLessThan(250);
  expect(answer.error.message).not.toContain("secret");
});
