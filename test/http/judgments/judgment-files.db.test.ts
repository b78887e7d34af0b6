import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError, testHost } from "../../../src/testing/host.ts";
import { foreignLine, HEADER, JudgmentHost } from "../../../src/testing/judgment-files.ts";

const RATING = { signal: { kind: "rating", rating: 4 } };
const FLAG = { signal: { kind: "flag" } };
const NOTHING = { imported: 0, updated: 0, unchanged: 0, refused: [] };

describe.each(HTTP_STORES)("judgments in files on %s", (_, open) => {
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

  test("are the same after they went to another host, but for who brought them", async () => {
    const { ids, query } = await here.judgedRun();
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
