import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../../src/formats/tapes/digest.ts";
import { loadTape } from "../../../src/formats/tapes/read-tape.ts";
import type { RunEventDoc } from "../../../src/protocol/events.ts";
import { fold } from "../../../src/protocol/runs/run.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { startedRun } from "../../../src/testing/builders.ts";
import { expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import { eventsOf, save } from "../../../src/testing/store-contract/subject.ts";
import { bodyOf, tapeText } from "../../../src/testing/tape-texts.ts";

const TAPES = "/v1/host/assay/tapes";

describe.each(HTTP_STORES)("a tape on %s", (_, open) => {
  let host: TestHost;
  let drop: () => Promise<void>;
  beforeEach(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store });
  });
  afterEach(() => host.close().then(drop));

  const send = (tape: string, more: object = {}, as: Who = "owner") =>
    host.ask("POST", TAPES, { as, json: { tape, ...more } });
  const text = async (runId: string, as: Who = "owner") =>
    (await host.ask("GET", `${TAPES}/${runId}/tape`, { as })).payload;
  const log = async (runId: string) =>
    (await host.store.readEvents(runId, 0, 100)).map(({ body }) => JSON.parse(body) as RunEventDoc);

  test("becomes a run that has ended, with an event for each record, and comes back as it was", async () => {
    const tape = tapeText();
    const answer = await send(tape, { name: "night.tape", agentId: "writer" });
    expect(answer.statusCode, answer.payload).toBe(201);
    const { header, records } = await loadTape("x", [Buffer.from(tape)]);
    const { runId, digest } = answer.json();
    expect(answer.json()).toEqual({
      runId,
      created: true,
      records: records.length,
      digest: await digestOf(records),
      scrubbed: 0,
      bodies: { referenced: 1, missing: [bodyOf("stored").hash] },
    });
    const run = (await host.ask("GET", `/v1/runs/${runId}`)).json();
    expect(run).toMatchObject({ workflowId: "recorded-tape", status: "completed" });
    expect(run.metadata).toMatchObject({ tape: { digest, name: "night.tape" }, agentId: "writer" });
    const events = await log(runId);
    expect(events.map(({ type }) => type)).toEqual([
      "run.started",
      ...records.map(() => "assay.tape.record"),
      "run.completed",
    ]);
    // What a double does not hold is a text, and nothing else is.
    expect(events.slice(1, 3).map(({ payload }) => (payload as { seq: unknown }).seq)).toEqual([
      0,
      "18446744073709551615",
    ]);
    expect(await host.store.readRun({ tenant: "t1" }, runId)).toEqual(fold(await eventsOf(host.store, runId)));

    const back = await text(runId);
    expect(back).toBe(tape);
    expect(header.script_path).toBe("night.harn");
    const info = (await host.ask("GET", `${TAPES}/${runId}`)).json();
    expect(info).toMatchObject({ runId, digest, name: "night.tape", importedBy: "ada", scriptPath: "night.harn" });
    const audit = (await host.ask("GET", "/v1/host/assay/audit/entries")).payload;
    expect(audit).toContain('"tape.imported"');
    // It outlives the run, and holds nothing that somebody wrote.
    expect(audit).not.toContain("night.tape");
  });

  test("is imported once, of however many who bring it at the same time, in each workspace", async () => {
    const tape = tapeText();
    // The digest is of what the records say, so spaces and the header make no other tape.
    const same = tape.replace('"harn_version":"0.9.0"', '"harn_version": "1.0.0"').replaceAll("\n", "\r\n");
    const answers = await Promise.all([tape, same, tape, same, tape].map((one) => send(one)));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(answers.map((answer) => answer.json().runId)).size).toBe(1);
    const east = await send(tape, {}, "east");
    expect(east.statusCode).toBe(201);
    expect((await send(tape, {}, "east")).json()).toMatchObject({ created: false, runId: east.json().runId });
    expect((await host.ask("GET", "/v1/runs")).json().runs).toHaveLength(2);
    // Whoever sees all workspaces brings it into none of them.
    const other = tape.replaceAll('"virtual_time_ms":', '"virtual_time_ms":1');
    for (const as of ["east", "owner"] as const) expect((await send(other, {}, as)).statusCode).toBe(201);
    const { digest } = east.json();
    const found = (await host.ask("GET", `${TAPES}?digest=${digest}`, { as: "east" })).json();
    expect(found.tapes).toMatchObject([{ runId: east.json().runId, digest }]);
    expect((await host.ask("GET", `${TAPES}?digest=${"0".repeat(64)}`)).json()).toEqual({ tapes: [] });
  });

  test("is found by two hosts at the same time as one run", async () => {
    const other = await testHost({ store: host.store });
    const tape = tapeText();
    const ask = (one: TestHost) => one.ask("POST", TAPES, { json: { tape } });
    const answers = await Promise.all([ask(host), ask(other), ask(host), ask(other)]);
    expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.json().runId)).size).toBe(1);
    await other.app.close();
  });

  test("is answered again under its idempotency key, whether it was new or not", async () => {
    const tape = tapeText();
    for (const [key, created] of [
      ["first", true],
      ["second", false],
    ] as const) {
      const headers = { "idempotency-key": key };
      const answers = [];
      for (const _ of [1, 2]) answers.push(await host.ask("POST", TAPES, { json: { tape }, headers }));
      expect(answers[0]?.json().created).toBe(created);
      expect(answers[1]?.payload).toBe(answers[0]?.payload);
      expect(answers[1]?.headers["openwop-idempotent-replay"]).toBe("true");
    }
  });

  test("that cannot be read is refused in the words of its reader, and nothing is there", async () => {
    const [head = "", first = ""] = tapeText().split("\n");
    const bad: [string, string, object][] = [
      ["", "tape_empty", {}],
      [`${first}\n`, "tape_header_missing", { line: 1 }],
      [`${head}\n${first}\n{"type":"record"}\n`, "tape_record_parse", { line: 3 }],
      [`${head}\n\n${head}\n`, "tape_second_header", { line: 3 }],
      [head.replace('"version":1', '"version":2'), "unsupported_tape_version", { declared: 2, supported: 1 }],
    ];
    for (const [tape, code, place] of bad) {
      const answer = await send(tape, { name: "bad.tape" });
      const details = expectError(answer, "tape_unreadable");
      expect(details).toMatchObject({ code, ...place, message: expect.stringContaining("load tape bad.tape: ") });
    }
    expect((await host.ask("GET", "/v1/runs")).json()).toEqual({ runs: [] });
    expect((await host.ask("GET", TAPES)).json()).toEqual({ tapes: [] });
  });

  test("keeps no secrets, and the digest of what came", async () => {
    const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    const tape = tapeText().replace("hello", `token ${secret}`).replace("night.harn", `--token=${secret}`);
    const answer = await send(tape, { name: `${secret}.tape` });
    const { runId, digest, scrubbed } = answer.json();
    expect(scrubbed).toBe(3);
    expect(digest).toBe(await digestOf((await loadTape("x", [Buffer.from(tape)])).records));
    const everything = await Promise.all([
      text(runId),
      host.ask("GET", `/v1/runs/${runId}`).then(({ payload }) => payload),
      host.ask("GET", `${TAPES}/${runId}`).then(({ payload }) => payload),
      host.ask("GET", `/v1/runs/${runId}/events/poll`).then(({ payload }) => payload),
      host.ask("GET", "/v1/host/assay/audit/entries").then(({ payload }) => payload),
      JSON.stringify(await host.store.readTape({ tenant: "t1" }, runId)),
    ]);
    for (const shown of everything) expect(shown).not.toContain(secret);
    expect((await send(tape)).json()).toMatchObject({ created: false, runId });
  });

  test("can be judged by its events, counted, bundled, compared and deleted like any run", async () => {
    const { runId } = (await send(tapeText(), { agentId: "writer" })).json();
    const { runId: other } = (await send(tapeText({ greeting: "goodbye" }))).json();
    const [, record] = await log(runId);
    const json = { signal: { kind: "rating", rating: 2 }, target: { eventId: record?.eventId } };
    expect((await host.ask("POST", `/v1/runs/${runId}/annotations`, { json })).statusCode).toBe(201);
    const summary = (await host.ask("GET", "/v1/host/assay/feedback/summary?groupBy=agent")).json();
    expect(summary.groups).toContainEqual(expect.objectContaining({ key: { agentId: "writer" }, runs: 1 }));
    const bundle = (await host.ask("GET", `/v1/runs/${runId}/debug-bundle`)).json();
    expect(bundle.events.map(({ type }: RunEventDoc) => type)).toContain("assay.tape.record");
    expect(bundle.spans).toMatchObject([{ name: "openwop.run", status: { code: "ok" } }]);
    const diff = (await host.ask("GET", `/v1/runs/${runId}:diff?against=${other}`)).json();
    expect(diff.eventDiffs.map(({ seq, op }: { seq: number; op: string }) => [seq, op])).toContainEqual([3, "changed"]);
    expect((await host.ask("DELETE", `/v1/host/assay/runs/${runId}`)).statusCode).toBe(200);
    expectError(await host.ask("GET", `${TAPES}/${runId}`), "not_found");
    expect((await send(tapeText())).json()).toMatchObject({ created: true });
  });

  test("is no run that could be started, forked, paused, resumed or cancelled", async () => {
    const { runId } = (await send(tapeText())).json();
    const ask = (path: string, json: object) => host.ask("POST", path, { json });
    for (const json of [{ mode: "replay" }, { mode: "branch", fromSeq: 1 }]) {
      expect(expectError(await ask(`/v1/runs/${runId}:fork`, json), "run_read_only")).toMatchObject({ runId });
    }
    expectError(await ask(`/v1/runs/${runId}:pause`, {}), "run_terminal");
    expectError(await ask(`/v1/runs/${runId}:resume`, {}), "run_terminal");
    expect((await ask(`/v1/runs/${runId}/cancel`, {})).json()).toMatchObject({ status: "completed" });
    expectError(await ask("/v1/runs", { workflowId: "recorded-tape" }), "validation_error");
    const definition = (await host.ask("GET", "/v1/workflows/recorded-tape")).json();
    expectError(await ask("/v1/workflows", { ...definition, isActive: true, status: "active" }), "validation_error");
    expect(await log(runId)).toHaveLength((await loadTape("x", [Buffer.from(tapeText())])).records.length + 2);
  });

  test("is nothing that webhooks are told of", async () => {
    const url = "http://127.0.0.1:9/";
    const hook = (await host.ask("POST", "/v1/webhooks", { json: { url, events: ["*"] } })).json();
    await send(tapeText());
    await host.newRun();
    const told = (await host.ask("GET", `/v1/host/assay/webhooks/${hook.webhookId}/deliveries`)).json();
    expect(told.deliveries.map(({ eventType }: { eventType: string }) => eventType)).toEqual(["run.started"]);
  });

  test("has its bodies with it that fit and hold no secret", async () => {
    const secret = bodyOf("key ghp_16C7e42F292c6912E7710c838347Ae178B4a");
    const { runId } = (await send(tapeText({ bodies: ["stored", secret.text] }))).json();
    const store = (hash: string, base64: string, as: Who = "owner") =>
      host.ask("POST", `${TAPES}/${runId}/bodies`, { as, json: { hash, base64 } });
    const { hash, base64 } = bodyOf("stored");
    expectError(await store(hash, bodyOf("other").base64), "tape_body_refused");
    expectError(await store(hash, `${base64} `), "tape_body_refused");
    expectError(await store(bodyOf("other").hash, bodyOf("other").base64), "tape_body_refused");
    expectError(await store(secret.hash, secret.base64), "tape_body_secret");
    expectError(await store(hash, base64, "other"), "not_found");
    expectError(await host.ask("GET", `${TAPES}/${runId}/bodies/${hash}`), "not_found");

    const stored = await store(hash, base64);
    expect(stored.json()).toEqual({ runId, hash, bytes: 6 });
    const got = await host.ask("GET", `${TAPES}/${runId}/bodies/${hash}`);
    expect(got).toMatchObject({ statusCode: 200, payload: "stored" });
    expect(got.headers).toMatchObject({ "content-disposition": "attachment" });
    expect((await host.ask("GET", `${TAPES}/${runId}`)).json().bodies).toEqual({
      referenced: 2,
      missing: [secret.hash],
    });
    expectError(await host.ask("GET", `${TAPES}/${runId}/bodies/${secret.hash}`), "not_found");
    await host.ask("DELETE", `/v1/host/assay/runs/${runId}`);
    expectError(await store(hash, base64), "not_found");
  });

  test("is made of any run, with the state after each event", async () => {
    const workflow = { workflowId: "noop", inputs: {} };
    const { runId } = (await host.ask("POST", "/v1/runs", { json: workflow })).json();
    await host.ask("POST", `/v1/runs/${runId}/cancel`, {
      json: { reason: "ghp_16C7e42F292c6912E7710c838347Ae178B4a" },
    });
    const { header, records } = await loadTape("x", [Buffer.from(await text(runId))]);
    expect(header).toMatchObject({ harn_version: "assay/0.0.0-test", script_path: "noop" });
    const events = await log(runId);
    const kinds = records.map(({ kind }) => kind);
    expect(kinds).toMatchObject(
      events.map(({ type, eventId }, i) => ({
        kind: "model_job",
        job_id: runId,
        request_id: eventId,
        backend: "assay",
        event_kind: type,
        state: i === 0 ? "pending" : "cancelled",
      })),
    );
    expect(records.map(({ seq }) => seq)).toEqual(events.map((_, i) => BigInt(i)));
    const bodies = kinds.map((kind) => (kind.kind === "model_job" && "text" in kind.event ? kind.event : undefined));
    expect(JSON.parse(bodies[0]?.text ?? "")).toEqual(events[0]);
    expect(bodies[0]?.content_hash).toBe(bodyOf(bodies[0]?.text ?? "").hash);
    expect(bodies.at(-1)?.text).toContain("[REDACTED]");
    expectError(await host.ask("GET", `${TAPES}/${runId}`), "not_found");
    expectError(await host.ask("GET", `${TAPES}/${runId}/tape`, { as: "other" }), "not_found");
    const again = await send(await text(runId));
    expect(again.statusCode, again.payload).toBe(201);
  });

  test("is made of a run whose events hold what no file can", async () => {
    const started = startedRun({ tenant: "t1", inputs: { half: "a\ud83d", escaped: "\\ud83d" } });
    await save(host.store, started);
    const { records } = await loadTape("x", [Buffer.from(await text(started.run.runId))]);
    const [first] = records.map(({ kind }) =>
      kind.kind === "model_job" && "text" in kind.event ? kind.event.text : "",
    );
    expect(JSON.parse(first ?? "").payload.inputs).toEqual({ half: "a\ufffd", escaped: "\\ud83d" });
  });

  test("of no records is one, and there can be pages of them", async () => {
    const [head = ""] = tapeText().split("\n");
    const runIds = [(await send(`${head}\n`)).json().runId];
    expect(await text(runIds[0])).toBe(`${head}\n`);
    for (const greeting of ["a", "b"]) runIds.push((await send(tapeText({ greeting }))).json().runId);
    const first = (await host.ask("GET", `${TAPES}?limit=2`)).json();
    const second = (await host.ask("GET", `${TAPES}?limit=2&cursor=${first.nextCursor}`)).json();
    const listed = [...first.tapes, ...second.tapes].map(({ runId }: { runId: string }) => runId);
    expect(listed).toEqual(runIds.reverse());
    expect(second.nextCursor).toBeUndefined();
    expectError(await host.ask("GET", `${TAPES}?cursor=nonsense`), "validation_error");
  });
});

test("a tape may be larger than other requests, up to a limit of its own", async () => {
  const host = await testHost({ settings: { maxRequestBodyBytes: 500, maxTapeBytes: 3000 } });
  const tape = tapeText();
  expect(Buffer.byteLength(tape)).toBeGreaterThan(500);
  expect((await host.ask("POST", TAPES, { json: { tape } })).statusCode).toBe(201);
  const large = tapeText({ greeting: "x".repeat(3000) });
  expectError(await host.ask("POST", TAPES, { json: { tape: large } }), "payload_too_large");
  expectError(await host.ask("POST", "/v1/runs", { json: { workflowId: "x".repeat(600) } }), "payload_too_large");
  await host.close();
});
