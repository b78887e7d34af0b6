import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { overriddenSummary } from "../../../src/evals/override/overridden.ts";
import { scoredEvents } from "../../../src/evals/override/score-judgments.ts";
import { agentFields, agentsOf } from "../../../src/protocol/agents/agent-of.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { echo, goldenTask, suiteOf } from "../../../src/testing/eval-bench.ts";
import { type EvalServer, evalServer } from "../../../src/testing/eval-server.ts";
import { expectError } from "../../../src/testing/host.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { foreignLine, HEADER } from "../../../src/testing/judgment-files.ts";
import { line } from "../../../src/testing/sidecar-client.ts";

const SUITE = suiteOf(
  ["right", "wrong"].map((one) => goldenTask(one, one)),
  { suiteId: "local.test.evals.forged", thresholds: { passScore: 0.75 } },
);
const PASS = { kind: "label", label: "pass" };
const AT = "2027-03-01T12:00:00.000Z";
const RETRACTED = { state: "retracted", retraction: { by: "vera", at: AT, reason: "never meant" } };

describe.each(HTTP_STORES)("judgments that are imported in another's name on %s", (_, open) => {
  let host: EvalServer;
  let drop: () => Promise<void>;
  let vera: Member;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await evalServer(opened.store, {
      behave: (task, watch) => (task.taskId === "wrong" ? { type: "completed", output: "no" } : echo(task, watch)),
    });
    vera = await Member.join(host, "vera");
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const eventOf = async (runId: string, taskId: string) =>
    (await scoredEvents(host.store, runId)).find((one) => one.taskId === taskId)?.eventId ?? "";
  const send = (...lines: object[]) =>
    host.ask("POST", "/v1/host/assay/annotations:import", { json: { lines: [HEADER, ...lines] } });
  const overrideOf = async (runId: string) =>
    (await host.ask("GET", `/v1/host/assay/evals/${runId}/report`)).json().override;
  const shown = async (annotationId: string) =>
    (await host.ask("GET", `/v1/host/assay/annotations/${annotationId}`)).json();
  const exported = async (runId: string): Promise<Record<string, unknown>[]> => {
    const { payload } = await host.ask("GET", `/v1/host/assay/annotations:export?runId=${runId}`);
    const lines = payload.trimEnd().split("\n");
    return lines.slice(1, -1).map((one) => JSON.parse(one));
  };
  /** A line about the score of a task, as if vera had judged it. */
  const forged = async (runId: string, taskId: string, more: object = {}) => {
    const { workflowId } = (await host.ask("GET", `/v1/runs/${runId}`)).json();
    const target = { runId, eventId: await eventOf(runId, taskId) };
    const run = await host.store.readRun({ tenant: "t1" }, runId);
    return foreignLine({
      target,
      workflowId,
      ...agentFields(agentsOf(run ?? {})),
      signal: PASS,
      actor: { principalRef: "vera" },
      ...more,
    });
  };
  const judged = async (runId: string, taskId: string, json: object): Promise<string> => {
    const answer = await vera.ask("POST", `/v1/host/assay/evals/${runId}/tasks/${taskId}:judge`, json);
    expect(answer.statusCode, answer.payload).toBe(201);
    return answer.json().annotationId;
  };

  test("override no score, dispute none, are no evidence, and are shown as imported", async () => {
    const runId = await host.evaluate(SUITE);
    const pass = await forged(runId, "wrong");
    const flag = await forged(runId, "right", { signal: { kind: "flag" }, flag: { status: "open" } });
    expect((await send(pass, flag)).json()).toMatchObject({ imported: 2, refused: [] });
    const before = { tasks: [], disputed: [], imported: 2, aggregateScore: 0.5, passed: false };
    expect(await overrideOf(runId)).toMatchObject(before);
    const evidence = await overriddenSummary(host.host, { tenant: "t1" }, runId);
    expect(evidence).toMatchObject({ overriddenTasks: [], overridden: { passed: false } });
    expect(await shown(pass.annotationId)).toMatchObject({ importedBy: "ada", actor: { principalRef: "vera" } });
    await judged(runId, "wrong", { label: "pass" });
    expect(await overrideOf(runId)).toMatchObject({ tasks: [{ taskId: "wrong", by: "vera" }], imported: 2 });
  });

  test("neither replace, withdraw nor close what was made here", async () => {
    const runId = await host.evaluate(SUITE);
    const said = await judged(runId, "wrong", { label: "fail" });
    const flag = await judged(runId, "right", { flag: true });
    const lines = await exported(runId);
    const [ofLabel, ofFlag] = [said, flag].map((id) => lines.find(({ annotationId }) => annotationId === id) ?? {});
    const replacing = await forged(runId, "wrong", { supersedes: said });
    const replaced = { state: "superseded", supersededBy: replacing.annotationId, supersededAt: AT };
    const closed = { flag: { status: "closed", closedBy: "vera", closedAt: AT, note: "fine" } };
    for (const attempt of [
      [replacing],
      [{ ...ofLabel, ...replaced }, replacing],
      [{ ...ofLabel, ...RETRACTED }],
      [{ ...ofFlag, ...closed }],
    ]) {
      const answer = (await send(...attempt)).json();
      expect(answer).toMatchObject({ imported: 0, updated: 0 });
      expect(answer.refused).toHaveLength(attempt.length);
      for (const { problem } of answer.refused) expect(problem).toContain("made here");
    }
    expect(await exported(runId)).toEqual(lines);
    expect(await overrideOf(runId)).toMatchObject({ tasks: [{ overridden: { score: 0 } }], disputed: [{}] });
  });

  test("change nothing where they come back to the host that they are from", async () => {
    const runId = await host.evaluate(SUITE);
    const first = await judged(runId, "wrong", { label: "pass" });
    const early = await exported(runId);
    await judged(runId, "wrong", { rating: 3, supersedes: first });
    const late = await exported(runId);
    expect((await send(...early)).json()).toEqual({ imported: 0, updated: 0, unchanged: 1, refused: [] });
    expect((await send(...late)).json()).toEqual({ imported: 0, updated: 0, unchanged: 2, refused: [] });
    expect(await exported(runId)).toEqual(late);
    expect(await overrideOf(runId)).toMatchObject({ tasks: [{ overridden: { score: 0.5 } }], imported: 0 });
  });

  test("are named one by one in the audit log, in a file of judgments and in a sidecar", async () => {
    const runId = await host.evaluate(SUITE);
    const lines = [await forged(runId, "right"), await forged(runId, "wrong")];
    await send(...lines);
    const author = { id: "vera", kind: "human" };
    const sidecar = [
      '{"type":"header","schema_version":1}',
      line({ id: "a", event_id: 1, kind: "correct", author }),
      line({ id: "b", event_id: 1, kind: "correct" }),
      "",
    ].join("\n");
    const pushed = await host.ask("POST", `/v1/host/assay/tapes/${runId}/sidecar`, { json: { sidecar } });
    expect(pushed.statusCode, pushed.payload).toBe(200);
    const { entries } = (await host.ask("GET", "/v1/host/assay/audit/entries?limit=1000")).json();
    const last = (action: string) => entries.findLast((one: { action: string }) => one.action === action).details;
    const ids = lines.map(({ annotationId }) => annotationId);
    expect(last("judgments.import")).toMatchObject({ count: 2, imported: 2, updated: 0, annotationIds: ids });
    const { changes } = pushed.json() as { changes: { what: string; annotationId: string }[] };
    const written = changes.flatMap(({ what, annotationId }) => (what === "recorded" ? annotationId : []));
    expect(last("sidecar.push")).toMatchObject({ recorded: 2, imported: 1 });
    expect([...last("sidecar.push").annotationIds].sort()).toEqual(written.sort());
  });

  test("replace nothing by a sidecar either, and mute nothing that was made here", async () => {
    const runId = await host.evaluate(SUITE);
    const push = (as: Member | undefined, ...rows: object[]) => {
      const sidecar = ['{"type":"header","schema_version":1}', ...rows.map((one) => line(one)), ""].join("\n");
      const url = `/v1/host/assay/tapes/${runId}/sidecar`;
      return as === undefined ? host.ask("POST", url, { json: { sidecar } }) : as.ask("POST", url, { sidecar });
    };
    const own = { id: "a", event_id: 1, kind: "correct" };
    expect((await push(vera, own)).statusCode).toBe(200);
    const author = { id: "vera", kind: "human" };
    const refused = await push(undefined, { ...own, kind: "incorrect", author });
    expect(expectError(refused, "sidecar_refused")["problem"]).toContain("only its author, vera, can do that");
    const beside = { id: "b", event_id: 1, kind: "incorrect", author, metadata: { supersedes: "a" } };
    const hers = { ...own, author };
    expect((await push(undefined, hers, beside)).statusCode).toBe(200);
    const mute = { id: "m", event_id: 1, kind: "mute", author };
    expect((await push(undefined, hers, beside, mute)).statusCode).toBe(200);
    const lines = await exported(runId);
    expect(lines.map(({ state, importedBy, muted }) => [state, importedBy, muted]).sort()).toEqual([
      ["live", undefined, undefined],
      ["live", "ada", undefined],
      ["live", "ada", true],
    ]);
  });
});
