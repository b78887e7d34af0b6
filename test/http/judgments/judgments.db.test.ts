import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { JudgmentClient } from "../../../src/testing/judgment-client.ts";
import { workflow } from "../../../src/testing/workflow.ts";

describe.each(HTTP_STORES)("judgments across runs on %s", (_, open) => {
  let host: TestHost;
  let client: JudgmentClient;
  let drop: () => Promise<void>;
  /** What was recorded, by a name for it. */
  const made: Record<string, string> = {};
  let runs: { one: string; two: string };
  let eventId: string;
  let between: string;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    let nowMs = Date.parse("2027-03-01T12:00:00.000Z");
    // Every judgment has a millisecond of its own, so that times can be asked for exactly.
    host = await testHost({ store: opened.store, worker: true, host: { nowMs: () => (nowMs += 1) } });
    client = new JudgmentClient(host);
    await host.ask("POST", "/v1/workflows", {
      json: workflow({ id: "pair", nodes: { a: "core.noop", b: "core.noop" }, edges: ["a>b"] }),
    });
    const critic = await Member.join(host, "critic", { kind: "agent" });
    const lint = await Member.join(host, "lint", { kind: "code" });
    const ana = await Member.join(host, "ana");
    const one = await client.ended("noop", {}, { metadata: { agentId: "writer" } });
    const two = await client.ended("pair");
    runs = { one, two };
    const events = await host.ask("GET", `/v1/runs/${two}/events`, { headers: { accept: "application/json" } });
    eventId = events.json().events.find((event: { nodeId?: string }) => event.nodeId === "b").eventId;
    const say = async (name: string, runId: string, json: object, headers = {}) => {
      made[name] = (await client.judge(runId, json, headers)).annotationId;
    };
    await say("good", one, { signal: { kind: "rating", rating: 5 } });
    await say("bad", one, { signal: { kind: "rating", rating: 2 }, note: "The invoice total is wrong" }, ana.headers);
    await say("put right", one, { signal: { kind: "correction", correction: "Grüße an Zoë, total 42" } });
    await say("by node", two, { target: { nodeId: "b" }, signal: { kind: "label", label: "pass" } }, critic.headers);
    between = new Date(host.host.nowMs()).toISOString();
    await say("by event", two, { target: { eventId }, signal: { kind: "label", label: "fail" } }, lint.headers);
    await say("flag", two, { signal: { kind: "flag", label: "pass" }, note: "see 発注書" }, ana.headers);
    await say("old flag", one, { signal: { kind: "flag" } });
    await client.close(made["old flag"] ?? "");
    await say("replaced", one, { signal: { kind: "rating", rating: 1 } }, critic.headers);
    const supersedes = made["replaced"];
    await say("instead", one, { signal: { kind: "rating", rating: 4 }, supersedes, confidence: 0.5 }, critic.headers);
    await say("withdrawn", two, { signal: { kind: "flag" } });
    await client.retract(made["withdrawn"] ?? "");
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const names = async (query: object) => {
    const nameOf = new Map(Object.entries(made).map(([name, id]) => [id, name]));
    return (await client.ids({ order: "oldest", limit: "200", ...query })).map((id) => nameOf.get(id));
  };
  const filters = (): [object, string[]][] => [
    [{ runId: runs.one }, ["good", "bad", "put right", "old flag", "replaced", "instead"]],
    [{ workflowId: "pair" }, ["by node", "by event", "flag", "withdrawn"]],
    [{ agentId: "writer" }, ["good", "bad", "put right", "old flag", "replaced", "instead"]],
    [{ nodeId: "b" }, ["by node", "by event"]],
    [{ signal: "rating" }, ["good", "bad", "replaced", "instead"]],
    [{ signal: "flag" }, ["flag", "old flag", "withdrawn"]],
    [{ label: "pass" }, ["by node"]],
    [{ actor: "ana" }, ["bad", "flag"]],
    [{ actorKind: "agent" }, ["by node", "replaced", "instead"]],
    [{ actorKind: "code" }, ["by event"]],
    [{ state: "live" }, ["good", "bad", "put right", "by node", "by event", "flag", "old flag", "instead"]],
    [{ state: "superseded" }, ["replaced"]],
    [{ state: "retracted" }, ["withdrawn"]],
    [{ flagged: "true" }, ["flag"]],
    [{ flagged: "open" }, ["flag"]],
    [{ flagged: "closed" }, ["old flag"]],
    [{ ratingMax: "2" }, ["bad", "replaced"]],
    [{ from: between }, ["by event", "flag", "old flag", "replaced", "instead", "withdrawn"]],
    [{ to: between }, ["good", "bad", "put right", "by node"]],
    [{ q: "invoice" }, ["bad"]],
    [{ q: "TOTAL" }, ["bad", "put right"]],
  ];

  test("are all listed, newest first, as they are now", async () => {
    const { annotations } = await client.page({ limit: "200" });
    expect(annotations.map(({ annotationId }) => annotationId)).toEqual(Object.values(made).reverse());
    const [withdrawn, instead, replaced] = annotations;
    expect(withdrawn).toMatchObject({ state: "retracted", retraction: { by: "ada", reason: "a slip" } });
    expect(instead).toMatchObject({ state: "live", actorKind: "agent", confidence: 0.5, agentId: "writer" });
    expect(replaced).toMatchObject({ state: "superseded", supersededBy: made["instead"] });
  });

  test("are found by each filter alone", async () => {
    for (const [query, found] of filters()) expect([query, await names(query)]).toEqual([query, found]);
  });

  test("are found by any two filters where both find them", async () => {
    for (const [one, ones] of filters()) {
      for (const [other, others] of filters()) {
        const query = { ...one, ...other };
        if (Object.keys(query).length < 2) continue;
        expect([query, await names(query)]).toEqual([query, ones.filter((name) => others.includes(name))]);
      }
    }
  });

  test.each([
    ["zoe", ["put right"]],
    ["gruße ZOË", ["put right"]],
    ["inv tot", ["bad"]],
    ["invoice zoe", []],
    ["voice", []],
    ["発注", ["flag"]],
    ["書", ["flag"]],
    // An operator of some query language is a word like any other, and no text here has it.
    ['"total" OR *', []],
    ["slip", []],
  ])("are found by the beginnings of the words %j of notes and corrections", async (q, found) => {
    expect(await names({ q })).toEqual(found);
  });

  test("come a page at a time, each once, whatever is recorded in between", async () => {
    const before = await client.ids({ limit: "200" });
    for (const order of ["newest", "oldest"] as const) {
      const pages: string[] = [];
      const late: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.page({ order, limit: "3", state: "live", ...(cursor && { cursor }) });
        expect(page.annotations.length).toBeLessThanOrEqual(3);
        pages.push(...page.annotations.map(({ annotationId }) => annotationId));
        cursor = page.nextCursor;
        if (late.length < 2) late.push((await client.rate(runs.one, 3)).annotationId);
      } while (cursor !== undefined);
      const live = await client.ids({ state: "live", limit: "200", order });
      expect(pages).toEqual(order === "newest" ? live.filter((id) => !late.includes(id)) : live);
      for (const id of late) await client.retract(id);
    }
    expect((await client.ids({ limit: "200" })).filter((id) => before.includes(id))).toEqual(before);
  });

  test("have no cursor when there are no more, also when the page is just full", async () => {
    const query = { runId: runs.two, state: "live" };
    const { length } = await client.ids(query);
    expect((await client.page({ ...query, limit: String(length) })).nextCursor).toBeUndefined();
    const { nextCursor = "" } = await client.page({ ...query, limit: String(length - 1) });
    expect(await client.ids({ ...query, cursor: nextCursor })).toHaveLength(1);
  });

  test("are 50 to a page unless asked otherwise", async () => {
    const runId = await client.ended();
    for (let i = 0; i < 51; i++) await client.rate(runId, 3, {}, bearer("owner"));
    const page = await client.page({ runId });
    expect(page.annotations).toHaveLength(50);
    expect(await client.ids({ runId, cursor: page.nextCursor ?? "" })).toHaveLength(1);
  });

  test("make a short page where they are long, and lose nothing by it", async () => {
    const runId = await client.ended();
    const correction = "long ".repeat(39_000);
    for (let i = 0; i < 50; i++) await client.judge(runId, { signal: { kind: "correction", correction } });
    const found = new Set<string>();
    const sizes: number[] = [];
    for (let page = await client.page({ runId }); ; page = await client.page({ runId, cursor: page.nextCursor })) {
      for (const { annotationId } of page.annotations) found.add(annotationId);
      sizes.push(page.annotations.length);
      if (page.nextCursor === undefined) break;
    }
    expect(sizes).toEqual([11, 11, 11, 11, 6]);
    expect(found.size).toBe(50);
  });

  test.each([
    "cursor=x",
    "cursor=ann-01k4zzzzzzzzzzzzzzzzzzzzzz",
    "cursor=",
    "limit=0",
    "limit=201",
    "limit=ten",
    "order=random",
    "signal=applause",
    "actorKind=user",
    "state=gone",
    "flagged=maybe",
    "ratingMax=6",
    "from=2027-02-30T00:00:00Z",
    "to=tomorrow-or-so-or-later",
    "q=",
    "q=%21%3F",
    `q=${encodeURIComponent(Array.from({ length: 33 }, (_, n) => String.fromCodePoint(0x4e00 + n)).join(""))}`,
    "tenant=t2",
    "runId=a&runId=b",
  ])("refuse %s", async (query) => {
    expectError(await host.ask("GET", `/v1/host/assay/annotations?${query}`), "validation_error");
  });

  test("are those of the caller's tenant and workspace, whatever is asked", async () => {
    const runId = await client.ended("noop", bearer("other"));
    const theirs = await client.rate(runId, 1, { note: "invoice" }, bearer("other"));
    const inEast = await client.ended("noop", bearer("east"));
    const easts = await client.flag(inEast, "invoice", bearer("east"));
    const seen = (query: object, who: "owner" | "other" | "east" | "west") => client.ids(query, bearer(who));
    for (const query of [{}, { q: "invoice" }, { limit: "200" }]) {
      expect(await seen(query, "other")).toEqual([theirs.annotationId]);
      expect(await seen(query, "east")).toEqual([easts.annotationId]);
      expect(await seen(query, "west")).toEqual([]);
      expect(await seen(query, "owner")).toContain(easts.annotationId);
      expect(await seen(query, "owner")).not.toContain(theirs.annotationId);
    }
    for (const query of [{ runId }, { actor: "bob" }]) expect(await seen(query, "owner")).toEqual([]);
    expect(await seen({ flagged: "true" }, "east")).toEqual([easts.annotationId]);
    // A cursor is a place in time, and shows nobody more than they may see.
    const { nextCursor = "" } = await client.page({ limit: "1" });
    expect(await seen({ cursor: nextCursor, order: "oldest" }, "west")).toEqual([]);
    await client.retract(easts.annotationId, bearer("east"));
  });
});
