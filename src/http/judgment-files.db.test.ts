import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { BOTH_STORES } from "../testing/both-stores.ts";
import { expectError, testHost } from "../testing/host.ts";
import { foreignLine, HEADER, JudgmentHost } from "../testing/judgment-files.ts";
import { judged, newItem, newQueue } from "../testing/queue-builders.ts";

const RATING = { signal: { kind: "rating", rating: 4 } };
const FLAG = { signal: { kind: "flag" } };
const NOTHING = { imported: 0, updated: 0, unchanged: 0, refused: [] };

describe.each(BOTH_STORES)("judgments in files on %s", (_, open) => {
  let here: JudgmentHost;
  let there: JudgmentHost;
  beforeAll(async () => {
    here = await JudgmentHost.open(open);
    there = await JudgmentHost.open(open);
  });
  afterAll(async () => {
    await here.close();
    await there.close();
  });

  const without = (line: string) => {
    const { importedBy: _, ...rest } = JSON.parse(line);
    return JSON.stringify(rest);
  };

  /** A run with every kind of judgment, in every state. */
  async function judgedRun(): Promise<{ runId: string; ids: string[]; query: string }> {
    const runId = await here.ended("owner", { metadata: { agentId: "writer" } });
    const log = await here.host.ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } });
    const event = log.json().events.find(({ type }: { type: string }) => type === "node.completed");
    const first = await here.judge(runId, { ...RATING, note: "so-so \u2028 “quoted” \u{1f600}\nsecond line" });
    const second = await here.judge(runId, { ...RATING, supersedes: first });
    const third = await here.judge(runId, {
      signal: { kind: "correction", correction: "42" },
      target: { nodeId: "a" },
    });
    const fourth = await here.judge(runId, {
      signal: { kind: "label", label: "pass" },
      target: { eventId: event.eventId },
    });
    const [open, closed] = [await here.judge(runId, FLAG), await here.judge(runId, FLAG)];
    await here.retract(third);
    await here.closeFlag(closed);
    return { runId, ids: [first, second, third, fourth, open, closed], query: `?runId=${runId}` };
  }

  test("are the same after they went to another host, but for who brought them", async () => {
    const { ids, query } = await judgedRun();
    const lines = await here.export(query);
    expect(lines.slice(1, -1).map((line) => JSON.parse(line).annotationId)).toEqual(ids);
    expect(JSON.parse(lines[0] ?? "")).toEqual({ ...HEADER, filter: { runId: query.slice("?runId=".length) } });
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ type: "end", count: 6 });

    expect(await there.importFile(lines)).toEqual({ ...NOTHING, imported: 6 });
    const again = await there.export(query);
    expect(again.map(without)).toEqual(lines);
    for (const line of again.slice(1, -1)) expect(JSON.parse(line)).toMatchObject({ importedBy: "ada" });

    expect(await there.importFile(lines)).toEqual({ ...NOTHING, unchanged: 6 });
    expect(await here.importFile(again)).toEqual({ ...NOTHING, unchanged: 6 });
    expect(await here.export(query)).toEqual(lines);
    expect(await there.export(query)).toEqual(again);
  });

  test("are brought up to date by a later export, and never taken back by an earlier one", async () => {
    const runId = await here.ended();
    const query = `?runId=${runId}`;
    const ids = [await here.judge(runId, RATING), await here.judge(runId, RATING), await here.judge(runId, FLAG)];
    const early = await here.export(query);
    expect(await there.importFile(early)).toMatchObject({ imported: 3 });
    const newest = await here.judge(runId, { ...RATING, supersedes: ids[0] });
    await here.retract(ids[1] ?? "");
    await here.closeFlag(ids[2] ?? "");
    const late = await here.export(query);

    expect(await there.importFile(late)).toEqual({ ...NOTHING, imported: 1, updated: 3 });
    expect((await there.export(query)).map(without)).toEqual(late);
    expect(await there.get(ids[0] ?? "")).toMatchObject({ state: "superseded", supersededBy: newest });
    expect(await there.importFile(early)).toEqual({ ...NOTHING, unchanged: 3 });
    expect((await there.export(query)).map(without)).toEqual(late);
  });

  test("are refused where one with the same id says something else, and the others are imported", async () => {
    const [mine, other] = [foreignLine(), foreignLine()];
    await there.import([mine]);
    const forged = { ...mine, actor: { principalRef: "mallory" } };
    expect(await there.import([forged, other])).toEqual({
      ...NOTHING,
      imported: 1,
      refused: [{ line: 2, problem: expect.stringContaining("this id") }],
    });
    expect(await there.get(mine.annotationId)).toMatchObject({ actor: { principalRef: "somebody" } });
  });

  test("are refused by their number in the file, which need not begin with the batch", async () => {
    const answer = await there.import([foreignLine(), { type: "annotation" }, foreignLine()], "owner", {
      firstLine: 501,
    });
    expect(answer).toMatchObject({ imported: 2, refused: [{ line: 502 }] });
  });

  test("of runs that are not here are kept, listed, and count in no rate", async () => {
    const before = await there.summary();
    const line = foreignLine({ signal: { kind: "label", label: "seen-elsewhere" } });
    await there.import([line]);
    const list = await there.host.ask("GET", "/v1/host/assay/annotations?label=seen-elsewhere");
    expect(list.json().annotations).toMatchObject([{ annotationId: line.annotationId, importedBy: "ada" }]);
    expect(await there.summary()).toEqual(before);
  });

  test("of runs that are here are counted apart, and are in no rate or mean of what was made here", async () => {
    const runId = await here.ended("owner", { metadata: { agentId: "counted" } });
    const line = foreignLine({ target: { runId }, agentId: "counted", signal: { kind: "rating", rating: 5 } });
    expect(await here.import([line])).toMatchObject({ imported: 1 });
    await here.judge(runId, { signal: { kind: "rating", rating: 1 } });
    const made = { runs: 1, annotatedRuns: 1, annotations: 1, ratings: { count: 1, mean: 1 }, accuracy: 0 };
    expect((await here.summary("?agentId=counted")).total).toMatchObject({ ...made, imported: 1 });
    await here.import([{ ...line, state: "retracted", retraction: { by: "x", at: line["createdAt"], reason: "" } }]);
    expect((await here.summary("?agentId=counted")).total).toMatchObject({ ...made, imported: 0 });
  });

  test("of runs that are here must fit them", async () => {
    const runId = await here.ended();
    const wrong = [
      { target: { runId }, workflowId: "other" },
      { target: { runId }, agentId: "nobody" },
      { target: { runId, nodeId: "no-such-node" } },
      { target: { runId, eventId: "evt-none" } },
    ];
    const answer = await here.import(wrong.map((more) => foreignLine(more)));
    expect(answer).toMatchObject({ imported: 0 });
    expect(answer.refused.map(({ problem }) => problem)).toEqual([
      expect.stringContaining("workflow"),
      expect.stringContaining("agent"),
      expect.stringContaining("nodeId"),
      expect.stringContaining("eventId"),
    ]);
    expect(await here.judgments(`?runId=${runId}`)).toEqual([]);
  });

  test("belong to the tenant that imports them, and reach no other, not even on the same run", async () => {
    const { runId, query } = await judgedRun();
    const lines = await here.export(query);
    const summary = await here.summary();
    const listed = (await here.host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
    expect(await here.importFile(lines, "other")).toEqual({ ...NOTHING, imported: 6 });
    const more = foreignLine({ target: { runId }, note: "from another tenant" });
    expect(await here.import([more], "other")).toMatchObject({ imported: 1 });

    expect((await here.host.ask("GET", `/v1/runs/${runId}/annotations`)).json()).toEqual(listed);
    expect(await here.export(query)).toEqual(lines);
    expect(await here.summary()).toEqual(summary);
    expect((await here.summary("", "other")).total).toMatchObject({ annotations: 0 });
    expect(await here.judgments(query, "other")).toHaveLength(7);
  });

  test("go to the workspace of their run, and else to that of the file where the importer may see it", async () => {
    const west = foreignLine({ workspace: "west" });
    const moved = foreignLine({ workspace: "west", target: { runId: await there.ended("east") } });
    await there.import([west]);
    await there.import([moved], "east");
    const ids = async (who: "east" | "west") =>
      (await there.judgments("", who)).map(({ annotationId }) => annotationId);
    expect(await ids("west")).toContain(west.annotationId);
    expect(await ids("east")).toContain(moved.annotationId);
    expect(await ids("west")).not.toContain(moved.annotationId);
    expect(await ids("east")).not.toContain(west.annotationId);
    // What is not theirs to see is not theirs to change.
    const at = "2027-03-01T12:00:00.000Z";
    const changed = { ...west, state: "retracted", retraction: { by: "eve", at, reason: "" } };
    expect(await there.import([changed], "east")).toMatchObject({ updated: 0, refused: [{ line: 2 }] });
    expect(await there.get(west.annotationId)).toMatchObject({ state: "live" });
  });

  test("get one answer for a run of another workspace, one that was deleted there and one that there never was", async () => {
    const gone = await there.ended("west");
    expect((await there.host.ask("DELETE", `/v1/host/assay/runs/${gone}`)).statusCode).toBe(200);
    const runs = [await there.ended("west"), gone, "run-01k4m2n6p8q0r2s4t6v8w0x2y4"];
    const answers = [];
    for (const runId of runs) answers.push(await there.import([foreignLine({ target: { runId } })], "east"));
    const problem = "its run is not in the workspace of this key";
    const answer = { ...NOTHING, refused: [{ line: 2, problem }] };
    expect(answers).toEqual([answer, answer, answer]);
  });

  test("get one answer for a run of another tenant and one that there never was", async () => {
    const runs = [await there.ended(), "run-01k4m2n6p8q0r2s4t6v8w0x2y4"];
    const answers = [];
    for (const runId of runs) answers.push(await there.import([foreignLine({ target: { runId } })], "other"));
    expect(answers).toEqual([
      { ...NOTHING, imported: 1 },
      { ...NOTHING, imported: 1 },
    ]);
  });

  test("bring the line of a sidecar along that they came with", async () => {
    const tapeRow = '{"type":"annotation", "event_id":18446744073709551615, "kind":"note", "mine":1.0}';
    const without = foreignLine();
    const line = { ...without, tapeRow };
    expect(await there.import([line])).toEqual({ ...NOTHING, imported: 1 });
    expect(await there.get(line.annotationId)).toMatchObject({ tapeRow });
    expect((await there.export()).join("\n")).toContain(JSON.stringify(tapeRow));
    // An older host would not have told of it.
    expect(await there.import([without])).toEqual({ ...NOTHING, unchanged: 1 });
  });

  test("are scrubbed on their way in, in every text", async () => {
    const secret = "sk-canary-0123456789abcdefghij";
    const at = "2027-03-01T12:00:00.000Z";
    const lines = [
      foreignLine({ note: secret, signal: { kind: "correction", correction: `key ${secret}` } }),
      foreignLine({ signal: { kind: "label", label: secret } }),
      foreignLine({ state: "retracted", retraction: { by: "x", at, reason: secret } }),
      foreignLine({ ...FLAG, flag: { status: "closed", closedBy: "x", closedAt: at, note: secret } }),
      foreignLine({ tapeRow: `{"type":"annotation","event_id":1,"kind":"note","evidence":"${secret}"}` }),
    ];
    expect(await there.import(lines)).toMatchObject({ imported: 5 });
    const exported = await there.export();
    expect(exported.join("\n")).not.toContain("canary");
    for (const { annotationId } of lines) {
      expect(JSON.stringify(await there.get(annotationId))).toContain("[REDACTED]");
    }
    expect(await there.import(lines)).toEqual({ ...NOTHING, unchanged: 5 });
  });

  test("are not taken from what is no such file, or has a piece missing", async () => {
    const line = foreignLine();
    const send = (...lines: object[]) => there.sendLines(lines);
    expectError(await send(line), "judgment_format_unsupported");
    expectError(await send({ ...HEADER, version: 2 }, line), "judgment_format_unsupported");
    expectError(await send({ ...HEADER, format: "assay-audit" }, line), "judgment_format_unsupported");
    expectError(await send(HEADER, line, { type: "end", count: 2 }), "judgment_file_incomplete");
    expectError(await send(HEADER, { type: "end", count: 0 }, line), "judgment_file_incomplete");
    expectError(await send(), "validation_error");
    expectError(await there.host.ask("GET", `/v1/host/assay/annotations/${line.annotationId}`), "not_found");
  });

  test("can be tried without being imported", async () => {
    const known = foreignLine();
    await there.import([known]);
    const fresh = foreignLine();
    const tried = await there.import([known, fresh, { type: "annotation" }], "owner", { dryRun: true });
    expect(tried).toMatchObject({ imported: 1, updated: 0, unchanged: 1, refused: [{ line: 4 }] });
    expectError(await there.host.ask("GET", `/v1/host/assay/annotations/${fresh.annotationId}`), "not_found");
  });

  test("are audited once for each batch that changes something, by number and id only", async () => {
    const lines = [foreignLine({ note: "very private" }), foreignLine()];
    const entries = async () =>
      (await there.host.ask("GET", "/v1/host/assay/audit/entries?limit=1000"))
        .json()
        .entries.filter(({ action }: { action: string }) => action === "judgments.import");
    const before = (await entries()).length;
    await there.import(lines);
    await there.import(lines);
    const after = await entries();
    expect(after).toHaveLength(before + 1);
    expect(after.at(-1)).toMatchObject({ actor: "ada", details: { count: 2, imported: 2, updated: 0 } });
    expect(JSON.stringify(after)).not.toContain("private");
  });

  test("are imported once by whoever sends them at the same time", async () => {
    const lines = Array.from({ length: 20 }, () => foreignLine({ target: { runId: "run-raced" } }));
    const answers = await Promise.all(Array.from({ length: 8 }, () => there.import(lines)));
    expect(answers.reduce((sum, { imported }) => sum + imported, 0)).toBe(20);
    expect(answers.reduce((sum, { unchanged }) => sum + unchanged, 0)).toBe(140);
    expect(await there.judgments("?runId=run-raced")).toHaveLength(20);
  });

  test("are answered for alike when the same request comes again under its key", async () => {
    const headers = { "idempotency-key": `import-${foreignLine().annotationId}` };
    const lines = [HEADER, foreignLine()];
    const first = await there.sendLines(lines, { headers });
    const again = await there.sendLines(lines, { headers });
    expect(first.json()).toMatchObject({ imported: 1 });
    expect(again.payload).toBe(first.payload);
    expect(again.headers).toMatchObject({ "openwop-idempotent-replay": "true" });
    expectError(await there.sendLines([HEADER, foreignLine()], { headers }), "idempotency_key_mismatch");
  });

  test("of a run that was deleted do not come back", async () => {
    const { runId, query } = await judgedRun();
    const lines = await here.export(query);
    expect((await here.host.ask("DELETE", `/v1/host/assay/runs/${runId}`)).statusCode).toBe(200);
    expect((await here.importFile(lines)).refused).toHaveLength(6);
    expect(await here.judgments(query)).toEqual([]);
  });

  test("of a run that is deleted while they are on their way do not come back", async () => {
    const runId = await here.ended();
    const { store } = here.host;
    const commit = store.commit.bind(store);
    const spy = vi.spyOn(store, "commit").mockImplementation(async (unit) => {
      if (unit.annotations === undefined) return commit(unit);
      spy.mockRestore();
      expect((await here.host.ask("DELETE", `/v1/host/assay/runs/${runId}`)).statusCode).toBe(200);
      return commit(unit);
    });
    const lines = [foreignLine({ target: { runId }, workflowId: "noop" }), foreignLine()];
    expect(await here.import(lines)).toMatchObject({
      imported: 1,
      refused: [{ line: 2, problem: "its run was deleted here" }],
    });
    expect(await here.judgments(`?runId=${runId}`)).toEqual([]);
  });

  test("are exported by the filters of the list, oldest first, and by none that it does not have", async () => {
    const runId = await here.ended();
    const rating = await here.judge(runId, RATING);
    const flag = await here.judge(runId, FLAG);
    await here.closeFlag(flag);
    const ids = async (query: string) =>
      (await here.judgments(`?runId=${runId}&${query}`)).map(({ annotationId }) => annotationId);
    expect(await ids("signal=rating")).toEqual([rating]);
    expect(await ids("flagged=closed")).toEqual([flag]);
    expect(await ids("flagged=open")).toEqual([]);
    expect(await ids("signal=rating&label=x")).toEqual([]);
    expect(await ids("actor=nobody")).toEqual([]);
    for (const query of ["?limit=5", "?cursor=x", "?from=yesterday-at-noon-or-so", "?signal=mood"]) {
      expectError(await here.host.ask("GET", `/v1/host/assay/annotations:export${query}`), "validation_error");
    }
  });

  test("of a blind queue are not exported to whoever has yet to judge there", async () => {
    const runId = await here.ended();
    const queue = newQueue("t1", { blind: true });
    const item = newItem(queue, runId, { required: 2, reviews: [judged("ben")] });
    const queues = [{ type: "queue", queue } as const, { type: "item", item } as const];
    expect(await here.host.store.commit({ tenant: "t1", queues })).toEqual({ ok: true });
    const line = foreignLine({ target: { runId }, actor: { principalRef: "ben" }, queueItemId: item.itemId });
    expect(await here.import([line])).toMatchObject({ imported: 1 });
    expect(await here.judgments(`?runId=${runId}`)).toHaveLength(1);
    expect(await here.judgments(`?runId=${runId}`, "viewer")).toEqual([]);
  });

  test("are exported whole and in order while others are written", async () => {
    const from = (n: number) => new Date(Date.UTC(2027, 5, 1, 0, 0, n)).toISOString();
    const target = { runId: "run-while-writing" };
    const lines = Array.from({ length: 450 }, (_, n) => foreignLine({ target, createdAt: from(n >> 1) }));
    await there.import(lines);
    const writing = Promise.all(
      Array.from({ length: 20 }, (_, n) => there.import([foreignLine({ target, createdAt: from(n) })])),
    );
    const exported = await there.judgments("?runId=run-while-writing");
    await writing;
    const places = exported.map(({ createdAt, annotationId }) => `${createdAt} ${annotationId}`);
    expect(places).toEqual([...places].sort());
    expect(new Set(places).size).toBe(places.length);
    const ids = new Set(exported.map(({ annotationId }) => annotationId));
    expect(lines.filter(({ annotationId }) => !ids.has(annotationId))).toEqual([]);
  });

  test("need the scope to import them, and for neither way anything but feedback switched on", async () => {
    expectError(await there.sendLines([HEADER, foreignLine()], { as: "viewer" }), "forbidden");
    expect((await there.export("", "viewer")).length).toBeGreaterThan(1);
    expectError(await there.host.ask("GET", "/v1/host/assay/annotations:export", { as: "stranger" }), "forbidden");
  });
});

test("judgments in files are neither written nor read where feedback is off", async () => {
  const off = await testHost({ capabilities: [] });
  expectError(await off.ask("GET", "/v1/host/assay/annotations:export"), "capability_not_provided");
  expectError(await off.ask("POST", "/v1/host/assay/annotations:import", { body: "{" }), "capability_not_provided");
  expectError(await off.ask("GET", "/v1/host/assay/feedback/summary"), "capability_not_provided");
  await off.close();
});
