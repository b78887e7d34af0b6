import { describe, expect, test } from "vitest";
import { bodyHash } from "../../formats/tapes/digest.ts";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { isStored, type RecordKind } from "../../formats/tapes/tape.ts";
import { engineOn } from "../../testing/engine.ts";
import { goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { aRow, aTape } from "../../testing/tape-files.ts";
import { workbench } from "../../testing/workbench.ts";
import type { TextOf } from "../calibration/gold-of-run.ts";
import { growFromTape } from "./add-from-tape.ts";
import { proveConfirmed, proveTask } from "./prove-task.ts";
import { TapeJudgments } from "./tape-tasks.ts";

const bench = workbench();
const hash = await bodyHash(Buffer.from("x"));
const inline = (text: string) => ({ content_hash: hash, text });
const call = (text: string, digest = "d1"): RecordKind => ({
  kind: "llm_call",
  request_digest: digest,
  response: inline(text),
});
const tool = (request: string, response: string): RecordKind => ({
  kind: "mcp_json_rpc",
  server: "orders",
  method: "tools/call",
  request_digest: "d2",
  response_digest: "d3",
  latency_ms: 1n,
  request_payload: inline(request),
  response_payload: inline(response),
});
const HUMAN = { author: { id: "ines", kind: "human", surface: null } } as const;
const said = (event: number, more: Partial<Row>): Row =>
  aRow({ id: `a${event}-${more.kind}`, event_id: BigInt(event), ...HUMAN, ...more });
const textOf: TextOf = async (body) => (isStored(body) ? undefined : body.text);

async function tasksOf(kinds: readonly RecordKind[], ...rows: readonly Row[]) {
  const judgments = new TapeJudgments();
  for (const row of rows) judgments.add(row);
  return judgments.tasks(aTape(...kinds), textOf);
}
const reasonsOf = async (kinds: readonly RecordKind[], ...rows: readonly Row[]) =>
  (await tasksOf(kinds, ...rows)).leftOut.map(({ reason }) => reason);

describe("what people say about the steps of a tape", () => {
  test("is a task that expects their fix, and has to fail on what was recorded", async () => {
    const { tasks } = await tasksOf([call("Vienna")], said(0, { kind: "alternative", suggested_fix: "Wien" }));
    expect(tasks).toEqual([
      expect.objectContaining({
        name: "event-0",
        row: "a0-alternative",
        corrects: true,
        input: { request_digest: "d1" },
        output: "Vienna",
        expected: { match: { strategy: "exact", value: "Wien" }, answer: "Wien" },
      }),
    ]);
    expect(tasks[0]?.notes).toEqual([expect.stringContaining("only the digest")]);
  });
  test("is a task that expects what was recorded, where they say that it is right", async () => {
    const { tasks } = await tasksOf([call("Wien")], said(0, { kind: "correct" }));
    expect(tasks[0]).toMatchObject({ corrects: false, expected: { match: { strategy: "exact", value: "Wien" } } });
  });
  test("asks what a tool was asked, and what the row says in place of a digest", async () => {
    const rows = [
      said(0, { kind: "correct" }),
      said(1, { kind: "correct", metadata: new Map([["input", new Map([["q", "capital"]])]]) }),
    ];
    const { tasks } = await tasksOf([tool('{"params":{"order":1}}', '{"ok":true}'), call("Wien")], ...rows);
    expect(tasks.map(({ input }) => input)).toEqual([{ params: { order: 1 } }, { q: "capital" }]);
    expect(tasks.map(({ expected }) => expected.match.strategy)).toEqual(["json-match", "exact"]);
    expect(tasks[1]?.notes).toEqual([]);
  });
  test("takes a fix that is no text as the value it is", async () => {
    const fix = new Map([["amount", 112.5]]);
    const { tasks } = await tasksOf([call('{"amount":120}')], said(0, { kind: "incorrect", suggested_fix: fix }));
    expect(tasks[0]?.expected.match).toEqual({ strategy: "json-match", value: { amount: 112.5 } });
  });
  test("counts by the newest fix, and not by what was replaced or is to be left alone", async () => {
    const first = said(0, { kind: "alternative", suggested_fix: "one" });
    const second = said(0, { id: "b", kind: "alternative", suggested_fix: "two" });
    expect((await tasksOf([call("x")], first, second)).tasks[0]?.expected.match.value).toBe("two");
    const taken = said(0, { id: "c", kind: "note", metadata: new Map([["supersedes", first.id]]) });
    expect((await tasksOf([call("x")], first, taken)).tasks).toEqual([]);
    expect((await tasksOf([call("x")], first, said(0, { kind: "mute" }))).tasks).toEqual([]);
  });
  test("is left out, with the reason, where no person says it, they disagree, or it leads to nothing", async () => {
    const agent = { author: { id: "bot", kind: "agent", surface: null } } as const;
    const fix = { kind: "alternative", suggested_fix: "y" } as const;
    expect(await reasonsOf([call("x")], said(0, { ...fix, ...agent }))).toEqual(["no person says so"]);
    expect(await reasonsOf([call("x")], said(0, { ...fix, author: null }))).toEqual(["no person says so"]);
    expect(await reasonsOf([call("x")], said(0, fix), said(0, { kind: "correct" }))).toEqual(["people disagree on it"]);
    expect(await reasonsOf([call("x")], said(0, { kind: "incorrect" }))).toEqual([
      expect.stringContaining("not what would"),
    ]);
    expect(await reasonsOf([{ kind: "clock_sleep", duration_ms: 1n }], said(0, fix))).toEqual([
      "the tape holds no answer of it",
    ]);
    const stored = { content_hash: hash, len_bytes: 5n };
    const elsewhere: RecordKind = { kind: "llm_call", request_digest: "d", response: stored };
    expect(await reasonsOf([elsewhere], said(0, fix))).toEqual(["the tape holds no answer of it"]);
  });
});

describe("a suite with the tasks of a tape", () => {
  const SUITE = suiteOf([goldenTask("known", "known")]);
  const KINDS = [call("Vienna", "x"), call("Wien", "y"), call("same", "z")];
  const ROWS = [
    said(0, { kind: "alternative", suggested_fix: "Wien" }),
    said(1, { kind: "correct" }),
    said(2, { kind: "alternative", suggested_fix: "same" }),
  ];

  test("is one version further, whatever their number, and leaves out what proves nothing", async () => {
    const grown = await growFromTape(engineOn(bench.store), SUITE, await tasksOf(KINDS, ...ROWS), "t");
    expect(grown.suite.version).toBe("1.1.0");
    expect(grown.suite.tasks.map(({ taskId }) => taskId)).toEqual(["known", "t-event-0", "t-event-1"]);
    expect(grown.added.map(({ recorded, correction }) => [recorded.passed, correction?.passed])).toEqual([
      [false, true],
      [true, undefined],
    ]);
    expect(grown.leftOut).toEqual([{ eventId: 2n, reason: expect.stringContaining("the recorded answer passes it") }]);
  });
  test("is refused where there is nothing to add", async () => {
    const host = engineOn(bench.store);
    const judged = await tasksOf(KINDS, ...ROWS);
    const { suite } = await growFromTape(host, { newSuiteId: "local.test.evals.new" }, judged, "t");
    expect(suite).toMatchObject({ suiteId: "local.test.evals.new", version: "0.1.0", modes: ["golden"] });
    await expect(growFromTape(host, suite, judged, "t")).rejects.toThrow(
      /no task can be made of the tape.*the same already/,
    );
    await expect(growFromTape(host, SUITE, await tasksOf(KINDS), "t")).rejects.toThrow(/no row says/);
  });
});

describe("the proof of a task", () => {
  const host = () => engineOn(bench.store);
  const task = goldenTask("t", "q", "right");

  test("is that it fails on what was answered and passes on the correction", async () => {
    const proof = await proveTask(host(), task, { outputs: ["wrong"], answer: "right" });
    expect(proof).toMatchObject({ recorded: { score: 0, passed: false }, correction: { score: 1, passed: true } });
    expect(proof.recorded.difference?.length).toBeGreaterThan(1);
  });
  test("holds where one of several answers was wrong, and where there was none", async () => {
    const mixed = await proveTask(host(), task, { outputs: ["right", "wrong"], answer: "right" });
    expect(mixed.recorded.passed).toBe(false);
    expect((await proveTask(host(), task, { outputs: [], answer: "right" })).recorded.passed).toBe(false);
  });
  test("is refused where the correction fails, with how it differs", async () => {
    const asked = proveTask(host(), task, { outputs: ["wrong"], answer: "other" });
    await expect(asked).rejects.toMatchObject({
      details: { problem: expect.stringContaining("the correction itself"), proof: { correction: { passed: false } } },
    });
  });
  test("is refused where something is found in the correction, whatever its score", async () => {
    const leaking = {
      ...task,
      input: "say CANARY-7f3a-blue",
      expected: { kind: "golden" as const, match: { strategy: "contains" as const, value: "right" } },
    };
    const asked = proveTask(host(), leaking, { outputs: ["wrong"], answer: "right CANARY-7f3a-blue" });
    await expect(asked).rejects.toThrow(/prompt-injection \(high\)/);
  });
  test("is refused where a confirmed answer does not pass", async () => {
    expect((await proveConfirmed(host(), task, "right")).passed).toBe(true);
    await expect(proveConfirmed(host(), task, "wrong")).rejects.toThrow(/does not pass it/);
  });
});
