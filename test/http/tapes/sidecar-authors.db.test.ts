import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BOTH_STORES } from "../../../src/testing/both-stores.ts";
import { expectError } from "../../../src/testing/host.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { JudgmentClient } from "../../../src/testing/judgment-client.ts";
import { QueueBench } from "../../../src/testing/review-queue.ts";
import { SidecarClient, sidecar } from "../../../src/testing/sidecar-client.ts";

describe.each(BOTH_STORES)("who said what in a sidecar on %s", (_, open) => {
  let bench: QueueBench;
  let files: SidecarClient;
  let judges: JudgmentClient;
  beforeAll(async () => {
    bench = await QueueBench.on(await open());
    files = new SidecarClient(bench.host);
    judges = new JudgmentClient(bench.host);
  });
  afterAll(() => bench.close());

  const made = async (runId: string) => (await judges.page({ runId, order: "oldest", limit: "200" })).annotations;

  test("is the caller's own without a name, and with the caller's", async () => {
    const runId = await judges.ended();
    const { headers } = bench.ana.member;
    const text = sidecar(
      { id: "1" },
      { id: "2", author: { kind: "agent" } },
      { id: "3", author: { id: "ana", kind: "human" } },
    );
    await files.push(runId, text, {}, headers);
    for (const { actor, actorKind, importedBy } of await made(runId)) {
      expect([actor.principalRef, actorKind, importedBy]).toEqual(["ana", "person", undefined]);
    }
  });

  test("is another's only for those who may import, who are named with it; unchanged rows need nothing", async () => {
    const runId = await judges.ended();
    const text = sidecar(
      { id: "1", author: { id: "zoe", kind: "human" } },
      { id: "2", author: { id: "critic", kind: "agent" } },
      { id: "3", author: { id: "lint", kind: "system" } },
    );
    const denied = await files.try(runId, text, {}, bench.ana.member.headers);
    expect(expectError(denied, "forbidden")["scopeRequired"]).toBe("judgments:import");
    expect(await made(runId)).toEqual([]);
    await files.push(runId, text);
    const who = (await made(runId)).map(({ actor, actorKind, importedBy }) => [
      actor.principalRef,
      actorKind,
      importedBy,
    ]);
    expect(who.sort()).toEqual([
      ["critic", "agent", "ada"],
      ["lint", "code", "ada"],
      ["zoe", "person", "ada"],
    ]);
    expect(await files.push(runId, text, {}, bench.ana.member.headers)).toMatchObject({ unchanged: 3 });
    expect(await files.pull(runId)).toBe(text);
  });

  test("cannot be a person's by the word of an agent", async () => {
    const runId = await judges.ended();
    const robot = await Member.join(bench.host, "robot", { kind: "agent", roles: ["admin"] });
    const rows = [
      { id: "1", author: { id: "critic", kind: "agent" } },
      { id: "2", author: { id: "zoe", kind: "human" } },
    ];
    const details = expectError(await files.try(runId, sidecar(...rows), {}, robot.headers), "sidecar_refused");
    expect(details["problems"]).toMatchObject([{ line: 3, id: "2" }]);
    await files.push(runId, sidecar(...rows.slice(0, 1)), {}, robot.headers);
    expect(await made(runId)).toMatchObject([{ actorKind: "agent", importedBy: "robot" }]);
  });

  test("can be changed by nobody else", async () => {
    const runId = await judges.ended();
    const { ana, ben } = bench;
    await files.push(runId, sidecar({ id: "a", evidence: "mine" }), {}, ana.member.headers);
    const theirs = sidecar({ id: "a", evidence: "yours?" });
    const refused = await files.try(runId, theirs, {}, ben.member.headers);
    expectError(refused, "sidecar_refused");
    expect(refused.json().message).toContain("line 2: it was changed, and only ana, who wrote it, can do that");
    // A row that names the other one as what it replaces is another row, and stands beside it.
    const beside = sidecar({ id: "a", evidence: "mine" }, { id: "b", metadata: { supersedes: "a" } });
    await files.push(runId, beside, {}, ben.member.headers);
    expect((await made(runId)).map(({ state }) => state)).toEqual(["live", "live"]);
    // And nobody prunes what another wrote.
    expect(await files.push(runId, sidecar(), { prune: true }, ben.member.headers)).toMatchObject({
      retracted: 1,
      onlyHere: 1,
    });
  });

  test("can be replaced by no agent that takes the name of a person", async () => {
    const runId = await judges.ended();
    const rows = [{ id: "a" }, { id: "b" }];
    await files.push(runId, sidecar(...rows), {}, bench.ana.member.headers);
    const robot = await Member.join(bench.host, "impostor", { kind: "agent", roles: ["admin"] });
    const author = { id: "ana", kind: "agent" };
    const changed = await files.try(runId, sidecar({ id: "a", kind: "correct", author }), {}, robot.headers);
    expectError(changed, "sidecar_refused");
    const metadata = { supersedes: "b" };
    await files.push(runId, sidecar(...rows, { id: "c", author, metadata }), {}, robot.headers);
    await files.push(runId, sidecar({ id: "d", author, metadata }), {}, robot.headers);
    const states = (await made(runId)).map(({ actorKind, state }) => `${actorKind} ${state}`);
    expect(states).toEqual(["person live", "person live", "agent live", "agent live"]);
  });

  test("stays with whoever judged an item of a blind queue, also when the file was pushed by one who may see it", async () => {
    const { ana, ben, boss } = bench;
    const { item, runId } = await bench.queueWithOne({ judgment: { kind: "flag" }, reviewersRequired: 2 });
    await ana.does("judge", item, { value: true, note: "worrying" });
    const seen = await files.pull(runId, boss.member.headers);
    expect(seen).toContain("worrying");
    expect(await files.pull(runId, ben.member.headers)).not.toContain("worrying");
    await files.push(runId, seen, {}, boss.member.headers);
    const blind = await files.pull(runId, ben.member.headers);
    expect(blind).not.toContain("worrying");
    expect(await files.push(runId, blind, {}, ben.member.headers)).toMatchObject({ onlyHere: 0 });
    expect(await files.pull(runId, ana.member.headers)).toBe(seen);
    await ben.does("judge", item, { value: false });
    expect(await files.pull(runId, ben.member.headers)).toContain("worrying");
  });

  test("is kept from others in a blind queue also where it was said before and is no longer", async () => {
    const { ana, ben, boss } = bench;
    const { item, runId } = await bench.queueWithOne({ judgment: { kind: "flag" }, reviewersRequired: 2 });
    await ana.does("judge", item, { value: true, note: "worrying" });
    await ana.does("judge", item, { value: true, note: "less so", revise: true });
    expect(await files.past(runId, boss.member.headers)).toMatchObject([{ line: expect.stringContaining("worrying") }]);
    expect(await files.past(runId, ben.member.headers)).toEqual([]);
  });
});
