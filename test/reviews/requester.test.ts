import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ScriptedReview } from "../../src/testing/scripted-review.ts";

const A = "add-a-goal-01";
const B = "name-owner-02";

describe.concurrent("a conversation", () => {
  test("goes on in its session with decisions until nothing is left to say", async () => {
    const peer = new ScriptedReview([{ remarks: [A, B] }, { remarks: [] }]);
    const first = await peer.start();
    expect(first).toMatchObject({
      exit: 0,
      json: { outcome: "response_success", ids: [A, B], iteration: 1, status: "open" },
    });
    const name = first.json.review;
    await peer.decide(name, A, "accepted");
    await peer.decide(name, B, "rejected", "--reason-code", "out_of_scope");
    peer.write("Second.\n");
    const second = await peer.on("next", name);
    expect(second).toMatchObject({ exit: 0, json: { iteration: 2, status: "converged", reason: "no_remarks" } });
    const [one, two] = peer.requests();
    expect(one).toEqual({
      protocol_version: "1.2",
      iteration: 1,
      artifact: { media_type: "text/markdown", content: "First.\n", artifact_ref: digest("First.\n") },
    });
    expect(two.applied_feedback.items).toEqual([
      { id: A, status: "accepted" },
      { id: B, status: "rejected", reason_code: "out_of_scope" },
    ]);
    const session = first.json.sessionID;
    expect(peer.calls().map(({ flags }) => flags)).toEqual([
      ["--agent", "qualitative-reviewer", "--format", "json"],
      ["--agent", "qualitative-reviewer", "--format", "json", "--session", session],
    ]);
  });

  test("gives the command one line, its own directory, and none of our secrets", async () => {
    const peer = new ScriptedReview([{}]);
    process.env["ASSAY_KEY"] = "k".repeat(20);
    await peer.start();
    delete process.env["ASSAY_KEY"];
    const [call] = peer.calls();
    expect(call?.text.endsWith("\n")).toBe(true);
    expect(call?.text.trimEnd()).not.toContain("\n");
    expect(call?.cwd).toBe(call?.pwd);
    expect(call?.env).not.toContain("ASSAY_KEY");
  });

  test("is kept in files that need no program to be read", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }, { remarks: [A], ack: "unknown_id" }]);
    const { json } = await peer.start();
    const name = json.review;
    await peer.decide(name, A, "partial", "--explanation", "half of it");
    peer.write("First.\nSecond.\n");
    const { json: second } = await peer.on("next", name);
    expect(second.warnings).toEqual(["provider_forgot"]);
    expect(readdirSync(peer.file(name, "turns")).sort()).toEqual(
      [
        ["request.json", "response.json", "stream.ndjson", "outcome.json"].map((what) => `001-${what}`),
        ["request.json", "response.json", "stream.ndjson", "outcome.json", "diff.patch"].map((what) => `002-${what}`),
      ]
        .flat()
        .sort(),
    );
    expect(readdirSync(peer.file(name, ".")).sort()).toEqual(["decisions.ndjson", "state.json", "turns"]);
    expect(peer.state(name)).toMatchObject({
      session_id: json.sessionID,
      directory: peer.folder,
      next_iteration: 3,
      remarks: [{ id: A, aspect: `About ${A}`, iterations: [1, 2] }],
      decisions: { [A]: { status: "partial", explanation: "half of it", iteration: 2 } },
      status: "open",
      attempts: 2,
      spent: { tokens: 200, cost: 0.5 },
    });
    expect(JSON.parse(peer.read(name, "decisions.ndjson"))).toEqual({
      time: expect.any(String),
      iteration: 2,
      id: A,
      aspect: `About ${A}`,
      status: "partial",
      reason_code: null,
      explanation: "half of it",
      artifact_ref_before: digest("First.\n"),
      artifact_ref_after: digest("First.\nSecond.\n"),
      ack: "unknown_id",
    });
    expect(peer.read(name, "turns/002-diff.patch")).toBe("--- turn 1\n+++ turn 2\n@@ -1 +1,2 @@\n First.\n+Second.\n");
    expect(JSON.parse(peer.read(name, "turns/002-outcome.json"))).toMatchObject({
      outcome: "response_success",
      attempt: 1,
      exit_code: 0,
      warnings: [],
      artifact: { added: 1, removed: 0 },
    });
  });

  test("sends nothing as long as a remark has no decision", async () => {
    const peer = new ScriptedReview([{ remarks: [A, B] }]);
    const { json } = await peer.start();
    await peer.decide(json.review, A, "accepted");
    const { exit, err } = await peer.on("next", json.review);
    expect(exit).toBe(2);
    expect(JSON.parse(err)).toMatchObject({ error: "review_undecided", details: { ids: B } });
    expect(peer.calls()).toHaveLength(1);
  });

  test.each([
    [["nobody-made-03", "accepted"], "no remark of this review"],
    [[A, "rejected"], "needs a reason code"],
    [[A, "partial", "--reason-code", "deferred"], "needs an explanation"],
    [[A, "perhaps"], "must be one of accepted, rejected, partial"],
  ])("does not take the decision %j", async (decision, problem) => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    const { json } = await peer.start();
    const before = peer.read(json.review, "state.json");
    const { exit, err } = await peer.decide(json.review, ...decision);
    expect(exit).toBe(2);
    expect(err).toContain(problem);
    expect(peer.read(json.review, "state.json")).toBe(before);
  });

  test("takes an id as it is, and decides anew on older remarks", async () => {
    const odd = "Check Rows!";
    const peer = new ScriptedReview([{ remarks: [odd] }, { remarks: [A] }, {}]);
    const { json } = await peer.start();
    expect(json.warnings).toEqual(["id_pattern"]);
    await peer.decide(json.review, odd, "accepted");
    peer.write("Second.");
    await peer.on("next", json.review);
    await peer.decide(json.review, A, "accepted");
    await peer.decide(json.review, odd, "rejected", "--explanation", "on second thoughts");
    peer.write("Third.");
    await peer.on("next", json.review);
    expect(peer.requests()[2].applied_feedback.items.map(({ id }: { id: string }) => id)).toEqual([A, odd]);
  });
});

describe.concurrent("a conversation is over", () => {
  test("when nothing new is said", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    const { json } = await peer.start();
    await peer.decide(json.review, A, "accepted");
    peer.write("Second.");
    expect((await peer.on("next", json.review)).json).toMatchObject({ status: "converged", reason: "nothing_new" });
    const { exit, err } = await peer.on("next", json.review);
    expect({ exit, code: JSON.parse(err).error }).toEqual({ exit: 2, code: "review_ended" });
  });

  test("when the work is unchanged and everything was rejected", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    const { json } = await peer.start();
    await peer.decide(json.review, A, "rejected", "--reason-code", "disagree");
    const next = await peer.on("next", json.review);
    expect(next).toMatchObject({
      exit: 0,
      json: { status: "stopped", reason: "unchanged", sent: false, outcome: null },
    });
    expect(peer.calls()).toHaveLength(1);
  });

  test("when the work is back at an earlier version", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }, { remarks: [B] }]);
    const { json } = await peer.start();
    await peer.decide(json.review, A, "accepted");
    peer.write("Second.\n");
    await peer.on("next", json.review);
    await peer.decide(json.review, B, "accepted");
    peer.write("First.\n");
    expect((await peer.on("next", json.review)).json).toMatchObject({ status: "stopped", reason: "oscillation" });
    expect(peer.calls()).toHaveLength(2);
  });

  test.each([
    [["--max-iterations", "1"], "max_iterations"],
    [["--max-tokens", "99"], "budget"],
    [["--max-cost", "0.2"], "budget"],
  ])("with %j when that is used up", async (flags, reason) => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    expect((await peer.start(...flags)).json).toMatchObject({ status: "stopped", reason });
  });
});

describe.concurrent("a turn that fails", () => {
  test("is tried again, each attempt with its own files, and what it cost counts", async () => {
    const peer = new ScriptedReview([{ exitCode: 3, stderr: "no" }, { error: "INTERNAL_ERROR" }, { remarks: [A] }]);
    const { json } = await peer.start();
    expect(json).toMatchObject({ outcome: "response_success", attempts: 3, spent: { tokens: 200 } });
    expect(peer.calls().every(({ flags }) => !flags.includes("--session"))).toBe(true);
    const outcomes = ["001", "002", "003"].map((n) => JSON.parse(peer.read(json.review, `turns/${n}-outcome.json`)));
    expect(outcomes.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
      ["tool_failed", 1],
      ["response_error", 2],
      ["response_success", 3],
    ]);
  });

  test("ends the conversation after the third attempt, and can be tried again by hand", async () => {
    const peer = new ScriptedReview([{ exitCode: 1 }, { exitCode: 1 }, { exitCode: 1 }, { remarks: [A] }]);
    const { exit, json } = await peer.start();
    expect({ exit, json }).toMatchObject({
      exit: 1,
      json: { status: "failed", reason: "tool_failed", attempts: 3, iteration: 0 },
    });
    expect((await peer.on("next", json.review)).exit).toBe(2);
    const again = await peer.on("next", json.review, "--reopen");
    expect(again).toMatchObject({ exit: 0, json: { status: "open", iteration: 1, ids: [A] } });
  });

  test("is final when the provider says so", async () => {
    const peer = new ScriptedReview([{ error: "UNSUPPORTED_MEDIA_TYPE" }]);
    const { exit, json } = await peer.start();
    expect({ exit, json }).toMatchObject({
      exit: 1,
      json: { status: "failed", reason: "response_error UNSUPPORTED_MEDIA_TYPE", attempts: 1 },
    });
  });

  test("because the session is lost fails, unless a new beginning was wished for", async () => {
    const script = [{ remarks: [A] }, { exitCode: 1, stderr: "Error: Session not found" }, { remarks: [A, B] }];
    for (const restarts of [false, true]) {
      const peer = new ScriptedReview(script);
      const { json } = await peer.start(...(restarts ? ["--restart-lost-session"] : []));
      await peer.decide(json.review, A, "accepted");
      peer.write("Second.");
      const next = await peer.on("next", json.review);
      if (!restarts) {
        expect(next.json).toMatchObject({ status: "failed", reason: "session_not_found" });
        continue;
      }
      expect(next.json).toMatchObject({
        status: "open",
        iteration: 1,
        ids: [A, B],
        warnings: ["decisions_not_delivered", "session_restarted"],
      });
      expect(peer.requests()[2]).toMatchObject({ iteration: 1, artifact: { content: "Second." } });
      expect(peer.requests()[2].applied_feedback).toBeUndefined();
      expect(JSON.parse(peer.read(json.review, "decisions.ndjson"))).toMatchObject({ id: A, ack: "none" });
      expect((await peer.on("stats", json.review)).json).toMatchObject({ issued: 2, decided: 0 });
    }
  });

  test("cannot be followed by another where no session that can be passed on was named", async () => {
    for (const session of [null, "-rf", "two words"]) {
      const peer = new ScriptedReview([{ remarks: [A], session }]);
      const { json } = await peer.start();
      await peer.decide(json.review, A, "accepted");
      peer.write("Second.");
      const { exit, err } = await peer.on("next", json.review);
      expect({ exit, code: JSON.parse(err).error }).toEqual({ exit: 2, code: "review_request_refused" });
      expect(peer.calls()).toHaveLength(1);
    }
  });
});

function digest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
