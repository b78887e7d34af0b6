import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BodyHasher } from "../../../src/formats/tapes/digest.ts";
import type { ErrorCode } from "../../../src/protocol/errors.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import {
  CalibrationBench,
  CERTIFICATES,
  judgedTask,
  label,
  politeSuite,
  refOf,
} from "../../../src/testing/calibration-bench.ts";
import { goldenTask, suiteOf } from "../../../src/testing/eval-bench.ts";
import { expectError } from "../../../src/testing/host.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { lexicalJudge } from "../../../src/testing/lexical-judge.ts";
import { line } from "../../../src/testing/sidecar-client.ts";

/** Why something was refused. */
function denied(answer: Parameters<typeof expectError>[0], code: ErrorCode, problem: RegExp): void {
  expect(expectError(answer, code)["problem"]).toMatch(problem);
}

describe.each(HTTP_STORES)("what a judge is compared with on %s", (_, open) => {
  let bench: CalibrationBench;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await CalibrationBench.on(opened.store, lexicalJudge({ silent: "mumble" }));
  });
  afterAll(async () => {
    await bench.host.close();
    await drop();
  });

  test("is compared with the verdicts of people only, each about one output", async () => {
    const suite = politeSuite("counted", 12);
    const runId = await bench.host.evaluate(suite);
    const events = await bench.eventsOf(runId);
    const at = (taskId: string) => ({ eventId: events.get(taskId) ?? "" });
    const bot = await Member.join(bench.host, "bot-counted", { kind: "agent" });
    const bea = await Member.join(bench.host, "bea-counted");
    const asMember = async (member: Member, taskId: string, signal: object) => {
      const answer = await member.ask("POST", `/v1/runs/${runId}/annotations`, { target: at(taskId), signal });
      expect(answer.statusCode, answer.payload).toBe(201);
    };
    await bench.say(runId, at("t0"), label("pass"));
    await asMember(bea, "t0", label("pass"));
    await bench.say(runId, at("t1"), { kind: "rating", rating: 5 });
    await bench.say(runId, at("t2"), { kind: "rating", rating: 4 });
    // By the bar of the suite 4 of 5 is 0.75 of 0.8.
    await bench.say(runId, at("t3"), label("pass"));
    await asMember(bea, "t3", label("fail"));
    await asMember(bot, "t4", label("pass"));
    await bench.say(runId, at("t5"), label("rude"));
    await bench.say(runId, at("t6"), { kind: "correction", correction: "please" });
    await bench.say(runId, {}, label("pass"));
    const first = await bench.say(runId, at("t7"), label("pass"));
    const gone = await bench.host.ask("POST", `/v1/host/assay/annotations/${first}:retract`, {
      json: { reason: "slip" },
    });
    expect(gone.statusCode).toBe(200);
    const log = (await bench.host.store.readEvents(runId, 0, 1000)).map(({ body }) => JSON.parse(body));
    const invoked = log.findLast(({ type }) => type === "agent.invocation.completed");
    await bench.say(runId, { eventId: invoked.eventId }, label("fail"));
    const view = await bench.certified({ suite: refOf(suite), runIds: [runId] });
    expect(view.gold).toEqual({
      outputs: 4,
      disputed: 1,
      unjudged: 0,
      leftOut: [
        { reason: "about_no_output", count: 1 },
        { reason: "no_verdict", count: 2 },
        { reason: "not_a_person", count: 1 },
      ],
      rubrics: { suite: 1, judged: 1 },
    });
    expect(
      view.certificate.report.confusion.reduce((sum, { gold, count }) => sum + (gold === "pass" ? count : 0), 0),
    ).toBe(2);
    expect(view.problems.map(({ code }) => code)).toContain("too_few_items");
  });

  test("leaves out what is said of no single output, of one that was not kept whole, and of what has no rubric", async () => {
    const long = `please ${"x".repeat(20_000)}`;
    const tasks = [judgedTask("tried", "please"), judgedTask("long", long), goldenTask("golden", "a")];
    const suite = suiteOf(tasks, { suiteId: "local.test.evals.left", modes: ["rubric", "golden"] });
    const twice = await bench.host.evaluate(suite, { trials: 2, taskIds: ["tried"] });
    const once = await bench.host.evaluate(suite);
    for (const runId of [twice, once]) {
      for (const eventId of (await bench.eventsOf(runId)).values()) await bench.say(runId, { eventId }, label("pass"));
    }
    const refused = expectError(await bench.calibrate({ suite: refOf(suite), runIds: [twice] }), "validation_error");
    expect(refused["leftOut"]).toEqual([{ reason: "several_trials", count: 1 }]);
    const { gold } = await bench.certified({ suite: refOf(suite), runIds: [twice, once] });
    expect(gold).toMatchObject({
      outputs: 1,
      leftOut: [
        { reason: "no_such_rubric", count: 1 },
        { reason: "output_cut", count: 1 },
        { reason: "several_trials", count: 1 },
      ],
    });
  });

  test("takes the word of whoever adjudicates over that of all others", async () => {
    const suite = suiteOf([judgedTask("only", "please")], { suiteId: "local.test.evals.settled", modes: ["rubric"] });
    const runId = await bench.host.evaluate(suite);
    const queue = {
      name: `settled-${runId}`,
      judgment: { kind: "label", labels: ["pass", "fail"] },
      reviewersRequired: 2,
    };
    const { queueId } = (await bench.host.ask("POST", "/v1/host/assay/queues", { json: queue })).json();
    const url = `/v1/host/assay/queues/${queueId}/items`;
    const { added } = (await bench.host.ask("POST", url, { json: { items: [{ runId }] } })).json();
    const item = `${url}/${added[0].itemId}`;
    const [ana, ben] = [await Member.join(bench.host, `ana-${runId}`), await Member.join(bench.host, `ben-${runId}`)];
    expect((await ana.ask("POST", `${item}:judge`, { value: "fail" })).statusCode).toBe(200);
    expect((await ben.ask("POST", `${item}:judge`, { value: "pass" })).statusCode).toBe(200);
    denied(await bench.calibrate({ suite: refOf(suite), runIds: [runId] }), "validation_error", /has a label/);
    const settled = await bench.host.ask("POST", `${item}:adjudicate`, { json: { value: "fail", note: "too short" } });
    expect(settled.statusCode, settled.payload).toBe(200);
    for (const name of ["cid", "dan"]) {
      const member = await Member.join(bench.host, `${name}-${runId}`);
      const late = await member.ask("POST", `/v1/runs/${runId}/annotations`, { signal: label("pass") });
      expect(late.statusCode, late.payload).toBe(201);
    }
    const { certificate } = await bench.certified({ suite: refOf(suite), runIds: [runId] });
    expect(certificate.report.confusion).toEqual([{ gold: "fail", judge: "pass", count: 1 }]);
  });

  test("is compared with what people wrote beside a tape under their own key", async () => {
    const suite = politeSuite("taped", 2);
    await bench.host.keep(suite);
    const hash = "0".repeat(64);
    const record = (seq: number, text: string) =>
      `{"type":"record","seq":${seq},"virtual_time_ms":1,"monotonic_ms":1,"kind":{"kind":"llm_call","request_digest":"${hash}","response":{"content_hash":"${hash}","text":"${text}"}}}`;
    const sleep = `{"type":"record","seq":4,"virtual_time_ms":1,"monotonic_ms":1,"kind":{"kind":"clock_sleep","duration_ms":1}}`;
    const tape = [
      '{"type":"header","version":1,"harn_version":"1.0"}',
      record(1, "please sit"),
      record(2, "sit"),
      record(3, "please stand"),
      sleep,
      "",
    ].join("\n");
    const imported = await bench.host.ask("POST", "/v1/host/assay/tapes", { json: { tape } });
    expect(imported.statusCode, imported.payload).toBe(201);
    const { runId } = imported.json();
    const author = { kind: "agent", id: "bot" };
    const person = { kind: "human", id: "zoe" };
    const sidecar = [
      '{"type":"header","schema_version":1}',
      line({ id: "a", event_id: 1, kind: "correct" }),
      line({ id: "b", event_id: 2, kind: "incorrect" }),
      line({ id: "c", event_id: 3, kind: "incorrect", author }),
      line({ id: "d", event_id: 4, kind: "correct" }),
      line({ id: "e", event_id: 3, kind: "correct", author: person }),
      "",
    ].join("\n");
    const pushed = await bench.host.ask("POST", `/v1/host/assay/tapes/${runId}/sidecar`, { json: { sidecar } });
    expect(pushed.statusCode, pushed.payload).toBe(200);
    const view = await bench.certified({ suite: refOf(suite), runIds: [runId] });
    expect(view.certificate.report).toMatchObject({ n: 2, accuracy: { value: 1 } });
    expect(view.gold.leftOut).toEqual([
      { reason: "about_no_output", count: 1 },
      { reason: "imported", count: 1 },
      { reason: "not_a_person", count: 1 },
    ]);
    const two = suiteOf([...suite.tasks, judgedTask("other", "x", "thanks")], {
      suiteId: suite.suiteId,
      version: "2.0.0",
      modes: ["rubric"],
    });
    await bench.host.keep(two);
    const asked = { suite: refOf(two), runIds: [runId] };
    denied(await bench.calibrate(asked), "validation_error", /several rubrics.*t0, t1, other/);
    denied(await bench.calibrate({ ...asked, taskId: "none" }), "validation_error", /has no rubric/);
    expect(await bench.certified({ ...asked, taskId: "t0" })).toMatchObject({
      gold: { rubrics: { suite: 2, judged: 1 } },
    });
  });

  test("is compared with what stands beside a tape where that is text, and with nothing that is not here or is none", async () => {
    const suite = politeSuite("beside", 2);
    await bench.host.keep(suite);
    const hasher = await BodyHasher.start();
    const bodies = ["please go", "please stay"].map((text) => Buffer.from(text));
    bodies.push(Buffer.from([0xff, 0xfe, 0x70]));
    const hashes = bodies.map((bytes) => hasher.hash(bytes));
    const record = (seq: number) =>
      `{"type":"record","seq":${seq},"virtual_time_ms":1,"monotonic_ms":1,"kind":{"kind":"llm_call","request_digest":"${hashes[0]}","response":{"content_hash":"${hashes[seq]}","len_bytes":${bodies[seq]?.length}}}}`;
    const tape = ['{"type":"header","version":1,"harn_version":"1.0"}', record(0), record(1), record(2), ""].join("\n");
    const tapes = "/v1/host/assay/tapes";
    const { runId } = (await bench.host.ask("POST", tapes, { json: { tape } })).json();
    for (const here of [0, 2]) {
      const json = { hash: hashes[here], base64: bodies[here]?.toString("base64") };
      const kept = await bench.host.ask("POST", `${tapes}/${runId}/bodies`, { json });
      expect(kept.statusCode, kept.payload).toBeLessThan(300);
    }
    const rows = [0, 1, 2].map((at) => line({ id: `r${at}`, event_id: at, kind: "correct" }));
    const sidecar = ['{"type":"header","schema_version":1}', ...rows, ""].join("\n");
    await bench.host.ask("POST", `${tapes}/${runId}/sidecar`, { json: { sidecar } });
    const view = await bench.certified({ suite: refOf(suite), runIds: [runId] });
    expect(view.certificate.report).toMatchObject({ n: 1, accuracy: { value: 1 } });
    expect(view.gold.leftOut).toEqual([{ reason: "no_output", count: 2 }]);
  });

  test("is not certified where it has no verdict on what people judged", async () => {
    const tasks = ["mumble", "please"].map((input, i) => judgedTask(`t${i}`, input));
    const suite = suiteOf(tasks, { suiteId: "local.test.evals.silent", modes: ["rubric"] });
    const runId = await bench.host.evaluate(suite);
    for (const eventId of (await bench.eventsOf(runId)).values()) await bench.say(runId, { eventId }, label("pass"));
    const run = await bench.calibrated({ suite: refOf(suite), runIds: [runId] });
    expect(run).toMatchObject({ status: "failed", error: { code: "judge_calibration_incomplete" } });
    const { certificates } = (await bench.host.ask("GET", `${CERTIFICATES}?suiteId=${suite.suiteId}`)).json();
    expect(certificates).toEqual([]);
  });
});
