import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError } from "../../../src/testing/host.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { JudgmentClient } from "../../../src/testing/judgment-client.ts";
import { QueueBench } from "../../../src/testing/review-queue.ts";
import { line, SidecarClient, sidecar } from "../../../src/testing/sidecar-client.ts";

describe.each(HTTP_STORES)("who said what in a sidecar on %s", (_, open) => {
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
    const pulled = await files.pull(runId, ben.member.headers);
    const theirs = pulled.replace("mine", "yours?");
    const refused = await files.try(runId, theirs, {}, ben.member.headers);
    expectError(refused, "sidecar_refused");
    expect(refused.json().message).toContain("line 2: it was changed, and only its author, ana, can do that");
    // A row that names the other one as what it replaces is another row, and stands beside it.
    const beside = pulled + sidecar({ id: "b", metadata: { supersedes: "a" } }).slice(sidecar().length);
    await files.push(runId, beside, {}, ben.member.headers);
    expect((await made(runId)).map(({ state }) => state)).toEqual(["live", "live"]);
    // And nobody prunes what another wrote.
    expect(await files.push(runId, sidecar(), { prune: true }, ben.member.headers)).toMatchObject({
      retracted: 1,
      onlyHere: 1,
    });
  });

  test("is pulled as its author wrote it, also where it was replaced and somebody else pushed other words under its name", async () => {
    const runId = await judges.ended();
    const { ana, ben } = bench;
    const author = { id: "ana", kind: "human" };
    const said = sidecar({ id: "a", kind: "incorrect", evidence: "it leaks", author });
    await files.push(runId, said, {}, ana.member.headers);
    const [first] = await made(runId);
    const more = { supersedes: first?.annotationId };
    const later = await judges.rate(runId, 1, more, ana.member.headers);
    const forged = said.replace("incorrect", "correct").replace("it leaks", "all is well");
    expect(await files.push(runId, forged, {}, ben.member.headers)).toMatchObject({ recorded: 0, unchanged: 1 });
    expect((await files.pull(runId)).startsWith(said)).toBe(true);
    await judges.retract(later.annotationId, ana.member.headers);
    expect(await files.pull(runId)).toBe(said);
  });

  test("can be replaced by no agent that takes the name of a person", async () => {
    const runId = await judges.ended();
    const rows = [{ id: "a" }, { id: "b" }];
    await files.push(runId, sidecar(...rows), {}, bench.ana.member.headers);
    const named = sidecar(...rows.map((row) => ({ ...row, author: { id: "ana", kind: "human" } })));
    const robot = await Member.join(bench.host, "impostor", { kind: "agent", roles: ["admin"] });
    const author = { id: "ana", kind: "agent" };
    const changed = await files.try(runId, sidecar({ id: "a", kind: "correct", author }), {}, robot.headers);
    expectError(changed, "sidecar_refused");
    const metadata = { supersedes: "b" };
    const beside = named + sidecar({ id: "c", author, metadata }).slice(sidecar().length);
    await files.push(runId, beside, {}, robot.headers);
    await files.push(runId, sidecar({ id: "d", author, metadata }), {}, robot.headers);
    const states = (await made(runId)).map(({ actorKind, state }) => `${actorKind} ${state}`);
    expect(states).toEqual(["person live", "person live", "agent live", "agent live"]);
  });

  test("is not taken by another author who uses the same ids first, and retracts them", async () => {
    const runId = await judges.ended();
    const { ana, ben } = bench;
    const ids = [{ id: "1" }, { id: "2" }];
    await files.push(runId, sidecar(...ids), {}, ben.member.headers);
    await files.push(runId, sidecar(), { prune: true }, ben.member.headers);
    const said = ids.map((row) => ({ ...row, kind: "incorrect", evidence: "it leaks" }));
    const unnamed = await files.try(runId, sidecar(...said), {}, ana.member.headers);
    const { problems } = expectError(unnamed, "sidecar_refused");
    expect(problems).toMatchObject([
      { line: 2, id: "1" },
      { line: 3, id: "2" },
    ]);
    expect(unnamed.json().message).toContain("it names no author, and a row of ben has the same id");
    const author = { id: "ana", kind: "human" };
    const text = sidecar(...said.map((row) => ({ ...row, author })));
    expect(await files.push(runId, text, {}, ana.member.headers)).toMatchObject({ recorded: 2, withdrawn: 0 });
    expect(await files.push(runId, text, {}, ana.member.headers)).toMatchObject({ recorded: 0, unchanged: 2 });
    const anas = (await made(runId)).filter(({ actor }) => actor.principalRef === "ana");
    expect(anas.map(({ state, signal }) => [state, signal.label])).toEqual([
      ["live", "fail"],
      ["live", "fail"],
    ]);
    expect(await files.pull(runId, ana.member.headers)).toBe(text);
  });

  test("is not another's who says the same word for word before", async () => {
    const runId = await judges.ended();
    const { ana, ben } = bench;
    const text = sidecar({ id: "1", kind: "incorrect" }, { kind: "correct" });
    await files.push(runId, text, {}, ben.member.headers);
    const unnamed = await files.try(runId, text, {}, ana.member.headers);
    expect(expectError(unnamed, "sidecar_refused")["count"]).toBe(2);
    const named = text.replaceAll('"kind"', '"author":{"id":"ana","kind":"human"},"kind"');
    expect(await files.push(runId, named, {}, ana.member.headers)).toMatchObject({ recorded: 2, unchanged: 0 });
    expect((await made(runId)).map(({ actor }) => actor.principalRef).sort()).toEqual(["ana", "ana", "ben", "ben"]);
  });

  test("is the author's own again where it was imported in the author's name before", async () => {
    const runId = await judges.ended();
    const author = { id: "ana", kind: "human" };
    const first = { id: "1", author, kind: "incorrect" };
    const text = sidecar(first, { ...first, id: "2", metadata: { supersedes: "1" } }, { ...first, id: "3" });
    await files.push(runId, text);
    const { headers } = bench.ana.member;
    expect(await files.push(runId, text, {}, headers)).toMatchObject({ recorded: 1, superseded: 2 });
    expect(await files.push(runId, text, {}, headers)).toMatchObject({ recorded: 0, superseded: 0, unchanged: 3 });
    const live = (await made(runId)).filter(({ state }) => state === "live");
    expect(live.map(({ importedBy }) => importedBy)).toEqual([undefined, undefined]);
    expect(await files.pull(runId)).toBe(text);
    expect(await files.push(runId, text)).toMatchObject({ recorded: 0, superseded: 0, unchanged: 3 });
  });

  test("stays with its author where others pull, add to and push what names no author", async () => {
    const runId = await judges.ended();
    const { ana, ben } = bench;
    const anas = sidecar({ id: "1" }, { kind: "correct" }, { id: "2", author: { kind: "agent" } });
    await files.push(runId, anas, {}, ana.member.headers);
    const pulled = await files.pull(runId, ben.member.headers);
    expect(pulled.match(/"author":\{"id":"ana","kind":"human"/g)).toHaveLength(3);
    expect(await files.push(runId, pulled, {}, ben.member.headers)).toMatchObject({ recorded: 0, unchanged: 3 });
    const bens = line({ id: "3" });
    const added = await files.push(runId, `${pulled}${bens}\n`, {}, ben.member.headers);
    expect(added).toMatchObject({ recorded: 1, superseded: 0, unchanged: 3 });
    const back = await files.pull(runId, ana.member.headers);
    expect(back.startsWith(anas)).toBe(true);
    expect(
      await files.push(runId, back.replace('"id":"1"', '"id":"1","evidence":"!"'), {}, ana.member.headers),
    ).toMatchObject({ recorded: 0, superseded: 1, unchanged: 3 });
    expect((await made(runId)).map(({ actor }) => actor.principalRef).sort()).toEqual([
      "ana",
      "ana",
      "ana",
      "ana",
      "ben",
    ]);
    expect(await files.pull(runId, ben.member.headers)).toContain(bens);
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
