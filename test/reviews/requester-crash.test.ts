import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { withConversation } from "../../src/reviews/requester/held-conversation.ts";
import { ScriptedReview } from "../../src/testing/scripted-review.ts";
import { start } from "../cli/assay.ts";

const A = "add-a-goal-01";
const B = "name-owner-02";

/** `assay review start` in a process of its own. */
function startProcess(peer: ScriptedReview) {
  return start(["review", "start", peer.work, "--dir", peer.dir, ...peer.providerFlags, "--json"]);
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc/self") || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

describe("a requester that is killed", () => {
  test("while it waits for an answer sends the request again, and ends the command it left behind", async () => {
    const peer = new ScriptedReview([{ hangs: true }, { remarks: [A] }]);
    const running = startProcess(peer);
    await until(() => peer.calls().length === 1);
    await until(() => readdirSync(peer.dir).some((name) => existsSync(peer.file(name, "running.json"))));
    running.child.kill("SIGKILL");
    await running.ended;
    const [name = ""] = readdirSync(peer.dir);
    const left = peer.calls()[0]?.pid ?? 0;
    expect(isRunning(left)).toBe(true);
    // Changed meanwhile; the turn is about the work as it was.
    peer.write("Other.\n");
    const { exit, json } = await peer.on("next", name);
    expect({ exit, json }).toMatchObject({ exit: 0, json: { resumed: true, iteration: 1, ids: [A], status: "open" } });
    expect(isRunning(left)).toBe(false);
    const [first, second] = peer.calls();
    expect(peer.calls()).toHaveLength(2);
    expect(second?.text).toBe(first?.text);
    expect(existsSync(peer.file(name, "turns/001-outcome.json"))).toBe(false);
    expect(existsSync(peer.file(name, "turns/002-outcome.json"))).toBe(true);
    expect(existsSync(peer.file(name, "running.json"))).toBe(false);
  });

  test("at any moment takes a turn that was answered for answered", async () => {
    for (const afterMs of [0, 30, 60, 90, 120]) {
      const peer = new ScriptedReview([{ remarks: [A] }]);
      const running = startProcess(peer);
      // From the moment the command has been called, everything is decided within a few hundredths of a second.
      await until(() => peer.calls().length === 1 || running.child.exitCode !== null);
      await sleep(afterMs);
      running.child.kill("SIGKILL");
      await running.ended;
      const [name = ""] = readdirSync(peer.dir);
      const wasAnswered = existsSync(peer.file(name, "turns/001-outcome.json"));
      const next = await peer.on("next", name);
      if (wasAnswered) expect(JSON.parse(next.err).error).toBe("review_undecided");
      else expect(next.json).toMatchObject({ resumed: true, iteration: 1 });
      expect(peer.calls()).toHaveLength(wasAnswered ? 1 : 2);
      await peer.decide(name, A, "accepted");
      expect(peer.state(name)).toMatchObject({ next_iteration: 2, remarks: [{ id: A, iterations: [1] }] });
    }
  });

  test("between the outcome and what follows from it makes up for it, once", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }, { remarks: [B] }]);
    const { json } = await peer.start();
    const name = json.review;
    await peer.decide(name, A, "accepted");
    peer.write("Second.\n");
    const before = join(peer.folder, "before.json");
    copyFileSync(peer.file(name, "state.json"), before);
    await peer.on("next", name);
    const [state, log] = [peer.read(name, "state.json"), peer.read(name, "decisions.ndjson")];
    // Killed before the state was written, and in the middle of a line of the log.
    copyFileSync(before, peer.file(name, "state.json"));
    writeFileSync(peer.file(name, "decisions.ndjson"), log.slice(0, 20));
    const { err } = await peer.on("next", name);
    expect(JSON.parse(err)).toMatchObject({ error: "review_undecided", details: { ids: B } });
    expect(peer.read(name, "state.json")).toBe(state);
    expect(peer.read(name, "decisions.ndjson")).toBe(log);
    expect(peer.calls()).toHaveLength(2);
  });
});

describe("a requester", () => {
  test("that is asked to stop ends its command, and the turn can be taken up", async () => {
    const peer = new ScriptedReview([{ hangs: true }, { remarks: [A] }]);
    const running = startProcess(peer);
    await until(() => peer.calls().length === 1);
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(143);
    expect(running.stderr()).toContain("review next");
    expect(isRunning(peer.calls()[0]?.pid ?? 0)).toBe(false);
    const [name = ""] = readdirSync(peer.dir);
    expect((await peer.on("next", name)).json).toMatchObject({ resumed: true, ids: [A] });
  });

  test("leaves a conversation alone that another one works on", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    const { json } = await peer.start();
    const folder = peer.file(json.review, ".");
    const holding = { lockWaitMs: 20, killMs: 10 };
    await withConversation(folder, json.review, holding, async () => {
      const second = withConversation(folder, json.review, holding, async () => "in");
      await expect(second).rejects.toMatchObject({ code: "review_in_use" });
    });
    expect(await withConversation(folder, json.review, holding, async () => "in")).toBe("in");
  });
});
