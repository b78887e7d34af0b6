import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { type Following, JudgmentClient, JudgmentFollower } from "../../../src/testing/judgment-client.ts";

const PATH = "/v1/host/assay/annotations/events";

describe.each(HTTP_STORES)("live judgments on %s", (_, open) => {
  let host: TestHost;
  let client: JudgmentClient;
  let drop: () => Promise<void>;
  let url: string;
  let runId: string;
  const followers: JudgmentFollower[] = [];

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    // Long enough that only a notification can be what wakes a stream in these tests.
    const streams = { rereadMs: 3_600_000, bufferedBytesMax: 16_384 };
    host = await testHost({ store: opened.store, worker: true, streams });
    client = new JudgmentClient(host);
    url = await host.listen();
    runId = await client.ended();
  });
  afterAll(async () => {
    for (const follower of followers) follower.disconnect();
    await host.close();
    await drop();
    expect(host.logged.filter(({ level }) => level === "error")).toEqual([]);
  });

  const follow = async (following: Following = {}) => {
    const follower = await JudgmentFollower.open(url, following);
    expect(follower.response.statusCode).toBe(200);
    followers.push(follower);
    return following.reading === false ? follower : follower.untilOpen();
  };

  /** What comes after everything before it was told. */
  const marker = async (...told: JudgmentFollower[]) => {
    const { annotationId } = await client.rate(runId, 3);
    for (const follower of told) await follower.untilTold(annotationId);
  };

  test("tell every change from now on, in order, also on a run that has ended", async () => {
    await client.rate(runId, 1);
    const live = await follow();
    const first = await client.rate(runId, 2, { note: "long" });
    const second = await client.rate(runId, 4, { supersedes: first.annotationId });
    const flag = await client.flag(runId);
    await client.close(flag.annotationId);
    await client.retract(second.annotationId);
    await live.untilTold(`${second.annotationId}.retracted`);
    expect(live.told.map(({ event, name }) => [event, name])).toEqual([
      ["annotation.recorded", first.annotationId],
      ["annotation.recorded", second.annotationId],
      ["annotation.superseded", `${first.annotationId}.superseded`],
      ["annotation.recorded", flag.annotationId],
      ["annotation.closed", `${flag.annotationId}.closed`],
      ["annotation.retracted", `${second.annotationId}.retracted`],
    ]);
    const last = live.told.at(-1)?.data;
    expect(last).toEqual((await host.ask("GET", `/v1/host/assay/annotations/${second.annotationId}`)).json());
  });

  test("go on exactly after whichever frame was the last", async () => {
    const live = await follow();
    const beginning = live.lastId ?? "";
    const one = await client.flag(runId);
    await client.close(one.annotationId);
    const two = await client.rate(runId, 5);
    await client.rate(runId, 1, { supersedes: two.annotationId });
    await client.retract(one.annotationId);
    await live.untilTold(`${one.annotationId}.retracted`);
    const all = live.ids;
    for (const [i, after] of [beginning, ...all].entries()) {
      const resumed = await follow({ after });
      await marker(resumed, live);
      expect(resumed.ids.slice(0, all.length - i)).toEqual(all.slice(i));
      expect(resumed.ids).toEqual(live.ids.slice(i));
      resumed.disconnect();
    }
  });

  test("resume after the name of a change, which ids were before", async () => {
    const live = await follow();
    const one = await client.rate(runId, 5);
    await client.retract(one.annotationId);
    await client.rate(runId, 4);
    await marker(live);
    for (const [i, after] of live.names.entries()) {
      const resumed = await follow({ after });
      await marker(resumed, live);
      expect(resumed.names).toEqual(live.names.slice(i + 1));
      resumed.disconnect();
    }
  });

  test("go on without a loss when the last frame was about a run that is gone", async () => {
    const doomed = await client.ended();
    const live = await follow();
    const before = await client.rate(runId, 1);
    const gone = await client.rate(doomed, 1);
    await client.retract(gone.annotationId);
    const after = await client.rate(runId, 2);
    await live.untilTold(after.annotationId);
    const run = await host.store.readRun({ tenant: "t1" }, doomed);
    const { version = 0, workflowId = "" } = run ?? {};
    const deletion = { runId: doomed, tenant: "t1", workflowId, version, reason: "deleted", atMs: 1 } as const;
    expect(await host.store.commit({ tenant: "t1", deletions: [deletion] })).toMatchObject({ ok: true });
    for (const { name, id } of live.told.filter(({ data }) => data.annotationId === gone.annotationId)) {
      const resumed = await (await follow({ after: id })).untilTold(after.annotationId);
      expect([name, resumed.names]).toEqual([name, [after.annotationId]]);
      const named = await (await follow({ after: name })).untilTold(after.annotationId);
      expect(named.names).toContain(before.annotationId);
    }
  });

  test("begin now for a place that the history has not come to", async () => {
    const live = await follow({ after: "at-999999999.0" });
    const { annotationId } = await client.rate(runId, 1);
    await live.untilTold(annotationId);
    expect(live.names).toEqual([annotationId]);
  });

  test.each([
    "x",
    "7",
    "-1",
    "",
    "at-",
    "at-1",
    "at-x.0",
    "ann-",
    "evt.retracted",
    "evt-01k4zzzzzzzzzzzzzzzzzzzzzz",
    "a b",
    "é",
    "x".repeat(600),
  ])("refuse Last-Event-ID %j", async (after) => {
    const headers = { "last-event-id": after };
    expectError(await host.ask("GET", PATH, { headers }), "validation_error");
  });

  test("have the filters of the list", async () => {
    const elsewhere = await client.ended();
    const ana = await Member.join(host, "ana");
    const bot = await Member.join(host, "bot", { kind: "agent" });
    const everything = await follow();
    const asked: Record<string, string>[] = [
      { runId: elsewhere },
      { workflowId: "noop" },
      { workflowId: "none" },
      { nodeId: "a" },
      { signal: "label" },
      { label: "pass" },
      { actor: "ana" },
      { actorKind: "agent" },
      { flagged: "true" },
      { ratingMax: "2" },
      { from: "2999-01-01T00:00:00Z" },
      { signal: "rating", actorKind: "agent" },
      { signal: "rating", label: "pass" },
      { state: "live" },
    ];
    const narrowed = await Promise.all(asked.map((query) => follow({ query })));
    const made = [
      await client.rate(elsewhere, 2, {}, ana.headers),
      await client.rate(runId, 5, { target: { nodeId: "a" } }, bot.headers),
      await client.judge(runId, { signal: { kind: "label", label: "pass" } }, bot.headers),
      await client.flag(elsewhere, "odd", ana.headers),
    ].map(({ annotationId }) => annotationId);
    await everything.untilTold(made[3] ?? "");
    const expected: number[][] = [
      [0, 3],
      [0, 1, 2, 3],
      [],
      [1],
      [2],
      [2],
      [0, 3],
      [1, 2],
      [3],
      [0],
      [],
      [1],
      [],
      [0, 1, 2, 3],
    ];
    for (const [i, places] of expected.entries()) {
      const follower = narrowed[i] as JudgmentFollower;
      const ids = places.map((place) => made[place] ?? "");
      await follower.until(() => follower.ids.length >= ids.length);
      expect([asked[i], follower.names]).toEqual([asked[i], ids]);
    }
    expectError(await host.ask("GET", `${PATH}?signal=applause`), "validation_error");
    expectError(await host.ask("GET", `${PATH}?from=2027-02-30T00:00:00Z`), "validation_error");
    expectError(await host.ask("GET", `${PATH}?q=words`), "validation_error");
  });

  test("tell nobody of what is in another workspace or tenant, also when they resume", async () => {
    const [owner, east, west, other] = [
      await follow(),
      await follow({ headers: bearer("east") }),
      await follow({ headers: bearer("west") }),
      await follow({ headers: bearer("other") }),
    ];
    const inEast = await client.rate(await client.ended("noop", bearer("east")), 1, {}, bearer("east"));
    const inWest = await client.rate(await client.ended("noop", bearer("west")), 1, {}, bearer("west"));
    const inOther = await client.rate(await client.ended("noop", bearer("other")), 1, {}, bearer("other"));
    for (const [follower, id] of [
      [east, inEast.annotationId],
      [west, inWest.annotationId],
      [other, inOther.annotationId],
    ] as const) {
      expect((await follower.untilTold(id)).names).toEqual([id]);
    }
    expect((await owner.untilTold(inWest.annotationId)).names).toEqual([inEast.annotationId, inWest.annotationId]);
    const curious = await follow({ headers: bearer("west"), after: inEast.annotationId });
    expect((await curious.untilTold(inWest.annotationId)).names).toEqual([inWest.annotationId]);
  });

  test("wait for a reader who is slow, and hold up nobody else for it", async () => {
    const slow = await follow({ reading: false });
    const quick = await follow();
    const note = "n".repeat(19_000);
    const made: string[] = [];
    // More than sockets and buffers hold.
    for (let i = 0; i < 400; i++) made.push((await client.rate(runId, 3, { note })).annotationId);
    await quick.untilTold(made.at(-1) ?? "");
    void slow.read();
    await slow.untilTold(made.at(-1) ?? "");
    expect([slow.names, quick.names]).toEqual([made, made]);
  });

  test("are told to everybody in one order, each once, whoever comes, goes and comes back meanwhile", async () => {
    const steady = await follow();
    const write = async (n: number) => {
      for (let i = 0; i < 10; i++) {
        const { annotationId } = await client.rate(runId, 1 + (n % 5));
        if (i % 3 === 0) await client.rate(runId, 2, { supersedes: annotationId });
        else if (i % 4 === 1) await client.retract(annotationId);
      }
    };
    let writing = true;
    const come = async (pause: number) => {
      const told: string[] = [];
      let after = steady.ids[0];
      while (after === undefined) {
        await steady.until(() => steady.ids.length > 0);
        after = steady.ids[0];
      }
      const from = after;
      while (writing) {
        const live = await follow({ after });
        await Promise.race([live.until(() => live.ids.length > pause), new Promise((done) => setTimeout(done, 30))]);
        live.disconnect();
        await live.closed;
        told.push(...live.ids);
        after = live.lastId ?? after;
      }
      const last = await follow({ after });
      return { from, told, last };
    };
    const comers = [come(1), come(4), come(9)];
    await Promise.all([write(0), write(1), write(2), write(3)]);
    writing = false;
    const stories = await Promise.all(comers);
    await marker(steady, ...stories.map(({ last }) => last));
    for (const { from, told, last } of stories) {
      expect([...told, ...last.ids]).toEqual(steady.ids.slice(steady.ids.indexOf(from) + 1));
    }
    expect(new Set(steady.ids).size).toBe(steady.ids.length);
  });

  test("end with their key", async () => {
    const { key, info } = (
      await host.ask("POST", "/v1/host/assay/keys", { json: { principal: "tmp", roles: ["viewer"] } })
    ).json();
    const live = await follow({ headers: { authorization: `Bearer ${key}` } });
    await host.ask("POST", `/v1/host/assay/keys/${info.keyId}:revoke`);
    expect(await live.closed).toBe("cut");
  });

  test("answer HEAD without opening anything, and are for readers only", async () => {
    expect(await host.ask("HEAD", PATH)).toMatchObject({ statusCode: 200, payload: "" });
    expectError(await host.ask("GET", PATH, { as: "stranger" }), "forbidden");
    expectError(await host.ask("GET", PATH, { headers: { authorization: "" } }), "unauthenticated");
  });
});
