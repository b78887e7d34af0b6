import { describe, expect, test } from "vitest";
import { type Decision, readRequest } from "../../formats/reviews/request.ts";
import type { ReviewRoundView } from "../../protocol/reviews/api.ts";
import { decided, type ReviewRequestParts, reviewRequest } from "../../testing/review-client.ts";
import { scriptedReviewer } from "../../testing/scripted-reviewer.ts";
import { reviewAnalytics } from "../analytics.ts";
import { beginTurn, withDecisions } from "../provider/begin-turn.ts";
import { finishTurn } from "../provider/finish-turn.ts";
import { fingerprintOf, newSession, type ReviewSession } from "../provider/session.ts";
import { conversationsOf, itemsOf } from "./conversations.ts";
import { movementOf, type ReviewMemory, type ReviewRound } from "./review-round.ts";

const WHO = { agent: "qualitative-reviewer", by: "ada" };

/** A session that is taken from turn to turn, with the rounds that are told of it. */
class Talk {
  memory: ReviewMemory = { conversation: 0, session: newSession("ses_1") };
  readonly rounds: ReviewRoundView[] = [];

  async turn(content: unknown, parts: ReviewRequestParts = {}): Promise<ReviewRound | undefined> {
    const request = reviewRequest(content, parts);
    return this.moveTo(await this.#after(request));
  }

  moveTo(session: ReviewSession): ReviewRound | undefined {
    const { conversation, round } = movementOf(this.memory, session, WHO);
    this.memory = { conversation, session };
    if (round !== undefined) this.rounds.push({ ...round, n: this.rounds.length + 1, at: "2027-03-01T12:00:00.000Z" });
    return round;
  }

  async #after(request: object): Promise<ReviewSession> {
    const { session } = this.memory;
    const reviewer = scriptedReviewer();
    const checked = readRequest(Buffer.from(JSON.stringify(request)));
    const fingerprint = fingerprintOf(request);
    const begun = beginTurn({ checked, fingerprint, session, reviews: reviewer.reviews });
    if (begun.type === "again") return session;
    if (begun.type === "refused") return begun.session;
    const { turn } = begun;
    try {
      const signal = new AbortController().signal;
      return finishTurn(turn, await reviewer.review({ ...turn, signal })).session;
    } catch {
      return withDecisions(session, turn.decisions);
    }
  }

  get figures() {
    return reviewAnalytics(conversationsOf("ses_1", this.rounds));
  }
}

const accepted = (id: string): Decision => decided(id, "accepted");
const rejected = (id: string, reason_code?: string): Decision =>
  decided(id, "rejected", reason_code === undefined ? {} : { reason_code });

describe("what is told of a turn", () => {
  test("is the answer with its remarks, and what the artifact was without its content", async () => {
    const talk = new Talk();
    const artifact = { artifact_ref: "v1", "x-run-id": "run-01k2v6w0d9q3c5x7m8n4p2r1st" };
    expect(await talk.turn("fix:this", { artifact })).toEqual({
      conversation: 1,
      iteration: 1,
      outcome: "success",
      ...WHO,
      decisions: [],
      artifact: {
        media_type: "text/plain",
        artifact_ref: "v1",
        digest: "sha256:cda55e8c45bd270343962a2a98cbccfbb5f96754aa1711a10113cdf2de09ab93",
        runId: "run-01k2v6w0d9q3c5x7m8n4p2r1st",
      },
      confidence: { level: "high", justification: "all of it was read" },
      general_summary: "reviewed",
      positive_points: [{ aspect: "length", justification: "short" }],
      remarks: [
        {
          id: "remark-this",
          aspect: "wording",
          description: "the text says fix:this",
          recommendation: "write something else than this",
        },
      ],
    });
  });

  test("names no run where the artifact names none that could be one", async () => {
    for (const named of ["", 7, "run-1", null, "../../etc"]) {
      const round = await new Talk().turn("fix:this", { artifact: { "x-run-id": named } });
      expect(round?.artifact).not.toHaveProperty("runId");
    }
  });

  test("holds the decisions that came with it, and whether their remarks are known", async () => {
    const talk = new Talk();
    await talk.turn("fix:this");
    const decisions = [decided("remark-this", "partial", { explanation: "half of it" }), accepted("never-issued")];
    const round = await talk.turn("fix:this again", { iteration: 2, decisions });
    expect(round?.decisions).toEqual([
      { id: "remark-this", status: "partial", processing_status: "acknowledged", explanation: "half of it" },
      { id: "never-issued", status: "accepted", processing_status: "unknown_id" },
    ]);
    expect(round?.remarks).toMatchObject([{ id: "remark-this", reopened: true }]);
  });

  test("is nothing when the same request comes again or is refused", async () => {
    const talk = new Talk();
    await talk.turn("fix:this");
    expect(await talk.turn("fix:this")).toBeUndefined();
    await talk.turn("fix:that", { iteration: 2 });
    expect(await talk.turn("fix:other", { iteration: 2 })).toBeUndefined();
    expect(talk.rounds).toHaveLength(2);
  });

  test("is what was decided, where the artifact could not be reviewed", async () => {
    const talk = new Talk();
    await talk.turn("fix:this");
    const round = await talk.turn("break:", { iteration: 2, decisions: [accepted("remark-this")] });
    expect(round).toEqual({
      conversation: 1,
      iteration: 2,
      outcome: "error",
      ...WHO,
      decisions: [{ id: "remark-this", status: "accepted", processing_status: "acknowledged" }],
      remarks: [],
    });
    expect(await talk.turn("break:", { iteration: 2 })).toBeUndefined();
  });

  test("holds what was decided otherwise when a turn is asked for again, and what was told of once only once", async () => {
    const talk = new Talk();
    await talk.turn("fix:a fix:b fix:c");
    await talk.turn("break:", { iteration: 2, decisions: [accepted("remark-a"), accepted("remark-b")] });
    const decisions = [rejected("remark-a", "infeasible"), accepted("remark-b"), accepted("remark-c")];
    const round = await talk.turn("fix:a", { iteration: 2, decisions });
    expect(round?.decisions).toMatchObject([
      { id: "remark-a", status: "rejected", reason_code: "infeasible" },
      { id: "remark-c", status: "accepted" },
    ]);
    expect(itemsOf(talk.rounds).map(({ decisions }) => decisions.at(-1)?.status)).toEqual([
      "rejected",
      "accepted",
      "accepted",
    ]);
    expect(talk.figures).toMatchObject({ issued: 3, decided: 3, accepted: 2, rejected: 1 });
  });

  test("counts conversations by how often they begin with iteration 1", async () => {
    const talk = new Talk();
    expect((await talk.turn("break:", { decisions: [accepted("x")] }))?.conversation).toBe(1);
    expect((await talk.turn("fix:a"))?.conversation).toBe(1);
    expect((await talk.turn("fix:b", { iteration: 2, decisions: [accepted("remark-a")] }))?.conversation).toBe(1);
    const anew = await talk.turn("fix:b", { decisions: [accepted("remark-b")] });
    expect(anew).toMatchObject({ conversation: 2, decisions: [{ id: "remark-b", processing_status: "unknown_id" }] });
  });
});

describe("the remarks of a session", () => {
  test("are listed once per conversation, with every decision on them", async () => {
    const talk = new Talk();
    await talk.turn("fix:a fix:b");
    const decisions = [accepted("remark-a"), rejected("remark-b", "infeasible"), accepted("unheard-of")];
    await talk.turn("fix:a", { iteration: 2, decisions });
    await talk.turn("", { iteration: 3, decisions: [rejected("remark-a")] });
    await talk.turn("fix:a");
    const items = itemsOf(talk.rounds);
    expect(items.map(({ id, conversation, iterations, reopened }) => [id, conversation, iterations, reopened])).toEqual(
      [
        ["remark-a", 1, [1, 2], true],
        ["remark-b", 1, [1], false],
        ["remark-a", 2, [1], false],
      ],
    );
    expect(items.map(({ decisions }) => decisions.map(({ status, iteration }) => [status, iteration]))).toEqual([
      [
        ["accepted", 2],
        ["rejected", 3],
      ],
      [["rejected", 2]],
      [],
    ]);
  });
});

describe("the figures of a session", () => {
  test("know acceptance, what was made again, unknown ids and why remarks were rejected", async () => {
    const talk = new Talk();
    await talk.turn("fix:a fix:b fix:c");
    const decisions = [accepted("remark-a"), rejected("remark-b", "infeasible"), accepted("nobody-made-this")];
    await talk.turn("fix:a fix:c", { iteration: 2, decisions });
    expect(talk.figures).toMatchObject({
      issued: 3,
      decided: 2,
      acceptance_rate: 0.5,
      coverage: 0.6667,
      reraised: 1,
      unknown_rate: 0.3333,
      by_reviewer: [{ reviewer: WHO.agent, issued: 3 }],
      by_reason: [{ reason_code: "infeasible", rejected: 1 }],
    });
  });

  test("say that a conversation has converged when nothing new is left to say", async () => {
    const talk = new Talk();
    await talk.turn("fix:a");
    expect(talk.figures.conversations).toMatchObject({ total: 1, open: 1, converged: 0 });
    await talk.turn("done", { iteration: 2, decisions: [accepted("remark-a")] });
    expect(talk.figures.conversations).toMatchObject({ converged: 1, rounds_to_convergence: { mean: 2, max: 2 } });
    await talk.turn("fix:b", { iteration: 3 });
    expect(talk.figures.conversations).toMatchObject({ open: 1, converged: 0 });
    await talk.turn("fix:b more", { iteration: 4, decisions: [decided("remark-b", "partial")] });
    expect(talk.figures.conversations).toMatchObject({ open: 1, converged: 0 });
    await talk.turn("fix:b most", { iteration: 5, decisions: [accepted("remark-b")] });
    expect(talk.figures.conversations).toMatchObject({ open: 0, converged: 1 });
  });

  test("see an artifact come back to what it had been", async () => {
    const talk = new Talk();
    for (const [i, content] of ["fix:a", { b: 1, a: 2 }, "fix:a"].entries())
      await talk.turn(content, { iteration: i + 1 });
    expect(talk.figures.conversations.oscillated).toBe(1);
  });
});
