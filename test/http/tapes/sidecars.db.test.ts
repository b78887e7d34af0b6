import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readJson } from "../../../src/formats/json/exact-json.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { JudgmentClient } from "../../../src/testing/judgment-client.ts";
import { HEADER, line, SidecarClient, sidecar } from "../../../src/testing/sidecar-client.ts";

describe.each(HTTP_STORES)("a sidecar on %s", (_, open) => {
  let host: TestHost;
  let judges: JudgmentClient;
  let files: SidecarClient;
  let drop: () => Promise<void>;
  let runId: string;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true });
    judges = new JudgmentClient(host);
    files = new SidecarClient(host);
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });
  beforeEach(async () => {
    runId = await judges.ended();
  });

  const onRun = async (query: object = {}) => (await judges.page({ runId, order: "oldest", ...query })).annotations;
  const auditHead = async () => (await host.store.auditHead("t1"))?.seq;

  test("comes back as it was pushed, and pushing it again changes nothing", async () => {
    const odd =
      `# by hand\r\n\r\n${HEADER}\r\n  {"event_id": 1 , "type":"annotation","kind":"note","x":1e3,"metadata":{"n":18446744073709551615}} \r\n` +
      `${line({ id: "a", kind: "correct" })}\n   # the end`;
    expect(await files.push(runId, odd)).toMatchObject({ recorded: 2, unchanged: 0, scrubbed: 0 });
    expect(await files.pull(runId)).toBe(odd);
    const before = await auditHead();
    expect(await files.push(runId, odd)).toMatchObject({ recorded: 0, superseded: 0, unchanged: 2, changes: [] });
    expect(await auditHead()).toBe(before);
    expect((await host.store.readSidecar({ tenant: "t1" }, runId))?.revision).toBe(1);
  });

  test("makes judgments by the table", async () => {
    const text = sidecar(
      { kind: "correct", evidence: "as it should", event_id: 1 },
      { kind: "incorrect" },
      { kind: "alternative", suggested_fix: { b: [1], a: "x" } },
      { kind: "alternative", suggested_fix: "say hello" },
      { kind: "alternative" },
      { kind: "hypothesis", hypothesis_status: "active" },
      { kind: "friction", friction_kind: "tool_gap" },
      { kind: "from_the_future", suggested_fix: "and a fix" },
    );
    await files.push(runId, text);
    const made = await onRun();
    expect(made.map(({ signal }) => signal)).toEqual(
      expect.arrayContaining([
        { kind: "label", label: "pass" },
        { kind: "label", label: "fail" },
        { kind: "correction", correction: '{"a":"x","b":[1]}' },
        { kind: "correction", correction: "say hello" },
        { kind: "label", label: "alternative" },
        { kind: "label", label: "hypothesis:active" },
        { kind: "label", label: "friction:tool_gap" },
        { kind: "label", label: "unknown", correction: "and a fix" },
      ]),
    );
    const events = await host.ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } });
    const pass = made.find(({ signal }) => signal.label === "pass");
    expect(pass).toMatchObject({ note: "as it should", actor: { principalRef: "ada" }, actorKind: "person" });
    expect(pass?.target.eventId).toBe(events.json().events[1].eventId);
    const summary = await host.ask("GET", "/v1/host/assay/feedback/summary");
    expect(summary.json().total.labels).toMatchObject({ fail: 1, "friction:tool_gap": 1 });
  });

  test("keeps the time that a row gives, unless that is still to come or no time", async () => {
    await files.push(
      runId,
      sidecar(
        { id: "then", timestamp: "2025-01-02T03:04:05+01:00", evidence: "then" },
        { id: "later", timestamp: "2999-01-01T00:00:00Z" },
        { id: "never", timestamp: "2025-02-30T00:00:00Z" },
      ),
    );
    const [then, ...others] = await onRun();
    expect(then).toMatchObject({ note: "then", createdAt: "2025-01-02T02:04:05.000Z" });
    for (const { createdAt } of others) expect(Math.abs(Date.parse(createdAt) - Date.now())).toBeLessThan(600_000);
  });

  test("supersedes what a row said before when the row is changed, and again when it is changed back", async () => {
    const first = sidecar({ id: "a", evidence: "one" }, { id: "b" });
    const second = sidecar({ id: "a", evidence: "two" }, { id: "b" });
    await files.push(runId, first);
    expect(await files.push(runId, second)).toMatchObject({
      superseded: 1,
      unchanged: 1,
      changes: [{ line: 2, id: "a", what: "superseded" }],
    });
    expect(await files.push(runId, first)).toMatchObject({ superseded: 1, unchanged: 1 });
    expect(await files.pull(runId)).toBe(first);
    const states = (await onRun()).map(({ note, state }) => [note, state]);
    expect(states).toEqual(
      expect.arrayContaining([
        ["one", "superseded"],
        ["two", "superseded"],
        ["one", "live"],
        [undefined, "live"],
      ]),
    );
    expect((await files.past(runId)).map(({ line: text }) => text)).toEqual(
      expect.arrayContaining([line({ id: "a", evidence: "one" }), line({ id: "a", evidence: "two" })]),
    );
  });

  test("keeps the history of a hypothesis: the row that replaces another supersedes its judgment", async () => {
    const told = { event_id: 1, kind: "hypothesis" };
    const rows = [
      { id: "h1", ...told, hypothesis_status: "active" },
      { id: "h2", ...told, hypothesis_status: "verifying", metadata: { supersedes: "h1" } },
      { id: "h3", ...told, hypothesis_status: "confirmed", metadata: { supersedes: "h2" } },
    ];
    const labels = async () => (await onRun()).map(({ signal, state }) => `${signal.label} ${state}`).sort();
    await files.push(runId, sidecar(...rows.slice(0, 1)));
    await files.push(runId, sidecar(...rows));
    expect(await labels()).toEqual([
      "hypothesis:active superseded",
      "hypothesis:confirmed live",
      "hypothesis:verifying superseded",
    ]);
    expect(await files.pull(runId)).toBe(sidecar(...rows));
    expect(await files.push(runId, sidecar(...rows))).toMatchObject({ unchanged: 3, recorded: 0 });
  });

  test("leaves what was retracted retracted, and the next pull without it", async () => {
    const text = sidecar({ id: "a" }, { id: "b" });
    const pushed = await files.push(runId, text);
    await judges.retract(pushed.changes[0]?.annotationId ?? "");
    expect(await files.pull(runId)).toBe(sidecar({ id: "b" }));
    for (const evidence of [undefined, "I insist"]) {
      expect(await files.push(runId, sidecar({ id: "a", evidence }, { id: "b" }))).toMatchObject({
        withdrawn: 1,
        unchanged: 1,
        recorded: 0,
        superseded: 0,
      });
    }
    expect(await files.pull(runId)).toBe(sidecar({ id: "b" }));
  });

  test("goes round: judged on the server, pulled, pushed without effect, pulled again the same", async () => {
    const text = sidecar({ id: "a", event_id: 1, kind: "incorrect" }, { id: "b" }, { event_id: 2, evidence: "no id" });
    const { changes } = await files.push(runId, text);
    const [a = "", b = "", c = ""] = changes.map(({ annotationId }) => annotationId);
    await judges.rate(runId, 2, { note: "slow" });
    await judges.judge(runId, { signal: { kind: "correction", correction: "better" }, supersedes: a });
    await judges.judge(runId, { signal: { kind: "label", label: "note" }, target: { nodeId: "a" }, supersedes: c });
    await judges.flag(runId, "look");
    await judges.retract(b);
    const pulled = await files.pull(runId);
    const lines = pulled.trimEnd().split("\n");
    expect(lines.slice(0, 3)).toEqual([
      HEADER,
      line({ id: "a", event_id: 1, kind: "incorrect" }),
      line({ event_id: 2, evidence: "no id" }),
    ]);
    const rows = lines.slice(3).map((one) => JSON.parse(one));
    expect(rows).toMatchObject([
      {
        kind: "note",
        evidence: "slow",
        event_id: 0,
        metadata: { assay: { signal: { kind: "rating", rating: 2 }, target: {} } },
      },
      { kind: "alternative", suggested_fix: "better", metadata: { supersedes: "a", assay: { target: {} } } },
      { kind: "note", metadata: { assay: { supersedes: c, target: { nodeId: "a" } } } },
      {
        kind: "note",
        evidence: "look",
        metadata: { assay: { signal: { kind: "flag" } } },
        author: { id: "ada", kind: "human" },
      },
    ]);
    expect(await files.push(runId, pulled)).toMatchObject({ recorded: 0, superseded: 0, unchanged: 6, onlyHere: 0 });
    expect(await files.pull(runId)).toBe(pulled);
    await judges.close(rows[3].id);
    expect(await files.push(runId, pulled)).toMatchObject({ recorded: 0, superseded: 0, unchanged: 6, onlyHere: 0 });
    expect(await files.pull(runId)).toBe(pulled);
  });

  test("takes a row that came by pulling and was changed as what its author says now", async () => {
    const { annotationId } = await judges.rate(runId, 2, { note: "slow" });
    const pulled = await files.pull(runId);
    const edited = pulled.replace('"slow"', '"too slow"');
    expect(await files.push(runId, edited)).toMatchObject({ superseded: 1 });
    const made = await onRun();
    expect(made).toMatchObject([
      { annotationId, state: "superseded" },
      { signal: { kind: "rating", rating: 2 }, note: "too slow", supersedes: annotationId, state: "live" },
    ]);
    expect(made[1]?.target).toEqual({ runId });
    expect(await files.pull(runId)).toBe(edited);
    expect(await files.push(runId, edited)).toMatchObject({ unchanged: 1, superseded: 0 });
    // No longer what the rating said: the row's own kind counts.
    await files.push(runId, edited.replace('"kind":"note"', '"kind":"incorrect"'));
    expect((await onRun({ state: "live" }))[0]?.signal).toEqual({ kind: "label", label: "fail" });
  });

  test("is refused as a whole when a row is about an event that the run does not have, with the line", async () => {
    const answer = await files.try(runId, sidecar({ id: "good" }, "# a comment", { event_id: 99 }));
    const details = expectError(answer, "sidecar_refused");
    expect(details["problems"]).toEqual([{ line: 4, id: "", problem: "event 99 is not in this run" }]);
    expect(answer.json().message).toContain("line 4: event 99");
    expect(await onRun()).toEqual([]);
    expect(await host.store.readSidecar({ tenant: "t1" }, runId)).toBeUndefined();
  });

  test("is refused when it cannot be read, with the reader's code and line", async () => {
    for (const [text, code, at] of [
      [`${HEADER}\n\n{"type":"annotation","kind":"note"}\n`, "record_parse", 3],
      [`${HEADER}\n${HEADER}\n`, "second_header", 2],
      [line({}), "header_missing", 1],
      ["# nothing\n", "empty_file", undefined],
      ['{"type":"header","schema_version":2}', "unsupported_schema_version", undefined],
    ] as const) {
      const details = expectError(await files.try(runId, text), "sidecar_unreadable");
      expect([details["code"], details["line"]]).toEqual([code, at]);
    }
  });

  test("only says what would come of it when asked to", async () => {
    await files.push(runId, sidecar({ id: "a" }));
    const before = await auditHead();
    const answer = await files.push(runId, sidecar({ id: "a", evidence: "x" }, { id: "b" }), { dryRun: true });
    expect(answer).toMatchObject({ recorded: 1, superseded: 1, dryRun: true });
    expect(await auditHead()).toBe(before);
    expect(await files.pull(runId)).toBe(sidecar({ id: "a" }));
  });

  test("leaves rows that it does not have, and retracts the caller's own when told to prune", async () => {
    const ana = await Member.join(host, `ana-${runId}`);
    await files.push(runId, sidecar({ id: "a" }, { id: "b" }));
    await judges.rate(runId, 5);
    const anas = await judges.rate(runId, 4, {}, ana.headers);
    const left = await files.push(runId, sidecar({ id: "a" }));
    expect(left).toMatchObject({ unchanged: 1, onlyHere: 3, retracted: 0 });
    expect(await files.pull(runId)).toContain(line({ id: "b" }));
    const pruned = await files.push(runId, sidecar({ id: "a" }), { prune: true });
    // The ratings were never rows of the file, so their absence from it says nothing.
    expect(pruned).toMatchObject({ unchanged: 1, onlyHere: 2, retracted: 1 });
    await files.push(runId, await files.pull(runId));
    expect(await files.push(runId, sidecar({ id: "a" }), { prune: true })).toMatchObject({ onlyHere: 1, retracted: 1 });
    expect((await onRun({ state: "live" })).map(({ annotationId }) => annotationId)).toContain(anas.annotationId);
  });

  test("keeps every row when the same id, or the same line, is there more than once", async () => {
    const text = sidecar({ id: "a", evidence: "1" }, { id: "a", evidence: "2" }, { evidence: "x" }, { evidence: "x" });
    expect(await files.push(runId, text)).toMatchObject({ recorded: 4 });
    expect(await files.push(runId, text)).toMatchObject({ unchanged: 4 });
    const more = sidecar({ id: "a", evidence: "2" }, { id: "a", evidence: "3" }, ...Array(3).fill({ evidence: "x" }));
    expect(await files.push(runId, more)).toMatchObject({ recorded: 1, superseded: 1, unchanged: 3, onlyHere: 0 });
    expect(await files.pull(runId)).toBe(more);
  });

  test("never stores a secret, and says how many lines had one", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const text = `# ${secret}\n${sidecar({ id: "a", evidence: `token ${secret}`, x: [1.0, secret] }, { id: "b" })}`;
    expect(await files.push(runId, text)).toMatchObject({ recorded: 2, scrubbed: 2 });
    const pulled = await files.pull(runId);
    expect(pulled).toBe(text.replaceAll(secret, "[REDACTED]"));
    expect((await onRun())[0]?.note ?? (await onRun())[1]?.note).toBe("token [REDACTED]");
    expect(await files.push(runId, text)).toMatchObject({ unchanged: 2, recorded: 0 });
  });

  test("cuts in a judgment what is too long for one; the row keeps all of it", async () => {
    const text = sidecar(
      { evidence: "é".repeat(30_000) },
      { kind: "alternative", suggested_fix: "\0😀".repeat(70_000) },
    );
    await files.push(runId, text);
    const made = await onRun();
    expect(made.find(({ note }) => note !== undefined)?.note).toHaveLength(20_000);
    const correction = made.find(({ signal }) => signal.kind === "correction")?.signal.correction ?? "";
    expect(correction.length).toBeLessThanOrEqual(200_000);
    expect(correction.isWellFormed()).toBe(true);
    expect(await files.pull(runId)).toBe(text);
  });

  test("takes no judgment from a row that no database could keep; the row keeps it", async () => {
    const named = (signal: object) => ({ metadata: { assay: { signal } } });
    const text = sidecar(
      { id: "1", ...named({ kind: "label", label: "a\0b" }) },
      { id: "2", suggested_fix: "c\0d", ...named({ kind: "label", label: "e", correction: "c\0d" }) },
    );
    await files.push(runId, text);
    const said = (await onRun()).map(({ signal: { label, correction } }) => `${label} ${correction ?? ""}`);
    expect(said.sort()).toEqual(["note ", "note c\ufffdd"]);
    expect(await files.pull(runId)).toBe(text);
  });

  test("is a header and all that counts when nothing was pushed yet", async () => {
    const { annotationId } = await judges.rate(runId, 3);
    const withdrawn = await judges.rate(runId, 1);
    await judges.retract(withdrawn.annotationId);
    const [header, row, ...rest] = (await files.pull(runId)).split("\n");
    expect(JSON.parse(header ?? "")).toMatchObject({ type: "header", schema_version: 1, tape_content_hash: null });
    expect(JSON.parse(row ?? "")).toMatchObject({ id: annotationId, event_id: 0 });
    expect(rest).toEqual([""]);
    expect(readJson(row ?? "")).toBeDefined();
  });

  test("belongs to those who may see its run", async () => {
    await files.push(runId, sidecar({ id: "a" }));
    for (const headers of [{ authorization: "Bearer key-of-the-owner-of-t2" }]) {
      expectError(await files.try(runId, sidecar({ id: "a" }), {}, headers), "not_found");
      expectError(await host.ask("GET", `/v1/host/assay/tapes/${runId}/sidecar`, { headers }), "not_found");
      expectError(await host.ask("GET", `/v1/host/assay/tapes/${runId}/sidecar/past`, { headers }), "not_found");
    }
    const viewer = { authorization: "Bearer key-of-a-viewer-in-t1" };
    expectError(await files.try(runId, sidecar({ id: "a" }), {}, viewer), "forbidden");
    const named = sidecar({ id: "a", author: { id: "ada", kind: "human" } });
    expect(await files.pull(runId, viewer)).toBe(named);
  });
});
