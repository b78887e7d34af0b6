import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_EVENT_DIFFS, RunDiffResponse } from "../../../src/protocol/runs/fork-api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { ForkHost } from "../../../src/testing/fork-host.ts";
import { expectError, type Who } from "../../../src/testing/host.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const NOBODY = "run-00000000000000000000000000";

describe.each(HTTP_STORES)("the difference of two runs on %s", (_, open) => {
  let forks: ForkHost;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    forks = await ForkHost.start(opened.store);
    await forks.gates.registerWorkflow(
      workflow({
        id: "echo",
        nodes: {
          say: {
            typeId: "core.identity",
            inputs: { said: { type: "variable", variableName: "text" }, kept: { type: "static", value: "same" } },
          },
        },
        variables: [
          { name: "text", type: "string", required: true },
          { name: "password", type: "string", sensitive: true },
        ],
      }),
    );
  });
  afterAll(async () => {
    await forks.host.close();
    await drop();
  });

  async function said(text: string, more: object = {}): Promise<string> {
    const runId = await forks.gates.start("echo", "owner", { inputs: { text, ...more } });
    await forks.ended(runId);
    return runId;
  }

  const ask = (a: string, b: string, as: Who = "owner") =>
    forks.host.ask("GET", `/v1/runs/${a}:diff?against=${b}`, { as });

  async function diff(a: string, b: string): Promise<RunDiffResponse> {
    const answer = await ask(a, b);
    expect(answer.statusCode, answer.payload).toBe(200);
    expect(matches(RunDiffResponse, answer.json())).toBe(true);
    return answer.json();
  }

  test("is none between a run and itself, and between a run and its replay", async () => {
    const source = await forks.everything();
    const { runId } = await forks.fork(source, { mode: "replay" });
    await forks.ended(runId);
    for (const other of [source, runId]) {
      expect(await diff(source, other)).toEqual({
        a: source,
        b: other,
        divergedAtSeq: null,
        eventDiffs: [],
        stateDiff: {},
      });
    }
  });

  test("is none between two runs that came to the same, each with its own gate, child and times", async () => {
    const [a, b] = [await forks.gates.waiting("gated"), await forks.gates.waiting("gated")];
    for (const runId of [a, b]) {
      await forks.gates.answer(runId, { action: "accept" });
      await forks.ended(runId);
    }
    expect(await diff(a, b)).toMatchObject({ divergedAtSeq: null, eventDiffs: [], stateDiff: {} });
  });

  test("names each event that differs, from the first on, and what the runs came to", async () => {
    const [a, b] = [await said("left"), await said("right")];
    const found = await diff(a, b);
    expect(found.divergedAtSeq).toBe(0);
    expect(found.eventDiffs[0]).toMatchObject({
      seq: 0,
      op: "changed",
      aEvent: { runId: a, type: "run.started", payload: { inputs: { text: "left" } } },
      bEvent: { runId: b, type: "run.started", payload: { inputs: { text: "right" } } },
    });
    expect(found.eventDiffs.map(({ seq }) => seq)).toEqual(found.eventDiffs.map(({ seq }) => seq).toSorted());
    expect(found.eventDiffs.some(({ aEvent }) => aEvent?.type === "node.started")).toBe(false);
    expect(found.stateDiff).toEqual({
      variables: { text: { a: "left", b: "right" }, said: { a: "left", b: "right" } },
    });
    expect(found.truncated).toBeUndefined();
  });

  test("says added and removed as seen from the first run", async () => {
    const short = await said("x");
    const { length } = await forks.log(short);
    const long = await forks.everything();
    expect((await diff(short, long)).eventDiffs.find(({ seq }) => seq === length)).toMatchObject({ op: "added" });
    const removed = (await diff(long, short)).eventDiffs.find(({ seq }) => seq === length);
    expect(removed).toMatchObject({ op: "removed", aEvent: { runId: long } });
    expect(removed).not.toHaveProperty("bEvent");
  });

  test("is of what there is so far while a run has not ended, and says so", async () => {
    const waiting = await forks.gates.waiting("gated");
    expect(await diff(waiting, waiting)).toMatchObject({ divergedAtSeq: null, truncated: true });
    await forks.gates.answer(waiting, { action: "accept" });
    await forks.ended(waiting);
    expect((await diff(waiting, waiting)).truncated).toBeUndefined();
  });

  test("shows neither what is masked nor what looks like a key", async () => {
    const key = `sk-${"a1B2".repeat(8)}`;
    const [a, b] = [
      await said(`use ${key}`, { password: "first-password" }),
      await said("risk-assessment", { password: "other-password" }),
    ];
    const found = await diff(a, b);
    const text = JSON.stringify(found);
    expect(text).not.toContain(key);
    expect(text).not.toMatch(/first-password|other-password/);
    expect(JSON.stringify(found.stateDiff)).not.toContain("sk-");
    expect(Object.keys(found.stateDiff.variables ?? {})).toEqual(["said", "text"]);
  });

  test("needs another run, and both of them to be readable", async () => {
    const run = await said("x");
    expectError(await forks.host.ask("GET", `/v1/runs/${run}:diff`), "validation_error");
    expectError(await ask(run, NOBODY), "not_found");
    expectError(await ask(NOBODY, run), "not_found");
    const [east, west, theirs] = [
      await forks.host.newRun("east"),
      await forks.host.newRun("west"),
      await forks.host.newRun("other"),
    ];
    expectError(await ask(east, west, "east"), "forbidden");
    expectError(await ask(run, theirs), "not_found");
    expect((await ask(east, west)).statusCode).toBe(200);
  });

  test(`holds ${MAX_EVENT_DIFFS} events at most, and says when there are more`, async () => {
    const nodes = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`n${i}`, "core.noop"]));
    await forks.gates.registerWorkflow(workflow({ id: "wide", nodes }));
    const wide = await forks.gates.start("wide");
    await forks.ended(wide);
    const found = await diff(await said("x"), wide);
    expect(found.eventDiffs).toHaveLength(MAX_EVENT_DIFFS);
    expect(found.truncated).toBe(true);
  });
});
