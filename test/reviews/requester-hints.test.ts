import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { review, reviewJson } from "../../src/testing/review-command.ts";
import { ScriptedReview } from "../../src/testing/scripted-review.ts";

const A = "add-a-goal-01";

const startedBy = (peer: ScriptedReview, ...flags: string[]) =>
  review(["start", peer.work, "--dir", peer.dir, "--review-retry-ms", "1", ...flags]);

describe.concurrent("what to do next", () => {
  test("is said in commands that find the review again", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }, { remarks: [A] }]);
    const { err } = await startedBy(peer, ...peer.providerFlags);
    const [, decide = ""] = /npx assay review (decide .*) accepted\|/.exec(err) ?? [];
    const [, next = ""] = /npx assay review (next .*)/.exec(err) ?? [];
    const inDir = / --dir (\S+)$/.exec(next)?.[1] ?? "";
    const decided = await review([...decide.split(" "), "accepted", "--dir", inDir]);
    expect(decided).toMatchObject({ exit: 0, err: `All decided. Change the file, then: npx assay review ${next}` });
    peer.write("Second.");
    expect((await review([...next.split(" "), "--review-retry-ms", "1"])).exit).toBe(0);
    expect(peer.calls()).toHaveLength(2);
  });

  test("without the real command is to get it, or to ask the built-in reviewer", async () => {
    const peer = new ScriptedReview([]);
    const { exit, err } = await startedBy(peer, "--command", join(peer.folder, "opencode"));
    expect(exit).toBe(1);
    expect(err).toContain("npm install -g opencode-ai");
    expect(err).toContain(`review start ${peer.work} --command npx --arg assay --arg review --arg provide --dir `);
  });

  test("after a refusal that is final is not to try the same again", async () => {
    const peer = new ScriptedReview([{ error: "UNSUPPORTED_MEDIA_TYPE" }]);
    const { exit, err } = await startedBy(peer, ...peer.providerFlags);
    expect(exit).toBe(1);
    expect(err).toContain("with another --media-type");
    expect(err).not.toContain("--reopen");
  });

  test("after another failure is to try the turn again", async () => {
    const peer = new ScriptedReview([{ exitCode: 1 }, { exitCode: 1 }, { exitCode: 1 }]);
    expect((await startedBy(peer, ...peer.providerFlags)).err).toMatch(/review next \S+ --reopen --dir /);
  });
});

describe.concurrent("a review is found", () => {
  test("by the beginning of its name when it is the only one of them that is open", async () => {
    const peer = new ScriptedReview([{ error: "INVALID_REQUEST" }, { remarks: [A] }, { remarks: [A] }]);
    expect((await peer.start()).json.status).toBe("failed");
    const { json } = await peer.start();
    expect((await peer.decide("plan", A, "accepted")).json).toMatchObject({ review: json.review });
    await peer.start();
    expect((await peer.decide("plan", A, "accepted")).exit).toBe(2);
  });

  test("by the path of its folder, wherever that is now", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    const { json } = await peer.start();
    const moved = join(peer.folder, "kept", json.review);
    mkdirSync(join(peer.folder, "kept"));
    renameSync(join(peer.dir, json.review), moved);
    expect((await reviewJson(["show", moved])).json).toMatchObject({ review: json.review, undecided: [A] });
    expect((await reviewJson(["decide", moved, A, "accepted"])).json).toMatchObject({ undecided: [] });
  });
});
