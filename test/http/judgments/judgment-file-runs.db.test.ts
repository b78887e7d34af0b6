import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { foreignLine, JudgmentHost } from "../../../src/testing/judgment-files.ts";
import { judged, newItem, newQueue } from "../../../src/testing/queue-builders.ts";

const NOTHING = { imported: 0, updated: 0, unchanged: 0, refused: [] };

describe.each(HTTP_STORES)("judgments in files, by the run they are about, on %s", (_, open) => {
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
    const { runId, query } = await here.judgedRun();
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

  test("of a run that was deleted do not come back", async () => {
    const { runId, query } = await here.judgedRun();
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
});
