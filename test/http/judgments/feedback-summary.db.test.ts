import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { idSource } from "../../../src/engine/host.ts";
import type { ActorKind, Signal } from "../../../src/protocol/judgments/annotation.ts";
import { FeedbackSummary, type FeedbackSummaryQuery } from "../../../src/protocol/judgments/feedback-api.ts";
import { parse } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { type ModelJudgment, type ModelRun, rounded, slowSummary } from "../../../src/testing/feedback-model.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { bearer, expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import { foreignLine, HEADER } from "../../../src/testing/judgment-files.ts";
import { pick, type Random, randomFrom } from "../../../src/testing/random-workflow.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const DAY_MS = 86_400_000;
const SUMMARY = "/v1/host/assay/feedback/summary";
const SIGNALS: readonly Signal[] = [
  ...[1, 2, 3, 4, 5].map((rating): Signal => ({ kind: "rating", rating })),
  { kind: "rating", rating: 5, label: "pass" },
  { kind: "correction", correction: "better" },
  { kind: "flag" },
  ...["pass", "fail", "tone", "__proto__"].map((label): Signal => ({ kind: "label", label })),
];

describe.each(HTTP_STORES)("the summary of feedback on %s", (_, open) => {
  let host: TestHost;
  let drop: () => Promise<void>;
  let nowMs = Date.parse("2027-03-01T22:00:00.000Z");
  const runs: ModelRun[] = [];
  const keys: Record<ActorKind, { authorization: string }> = {
    person: bearer("owner"),
    agent: bearer("owner"),
    code: bearer("owner"),
  };
  let gates: GateClient;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    const clock = () => nowMs;
    host = await testHost({ store: opened.store, worker: true, host: { nowMs: clock, newId: idSource(clock) } });
    gates = new GateClient(host);
    for (const id of ["greet", "draft"]) {
      await gates.registerWorkflow(workflow({ id, nodes: { a: "core.noop", b: "core.noop" }, edges: ["a>b"] }));
    }
    await gates.register("gated", "core.approvalGate", {});
    for (const kind of ["agent", "code"] as const) {
      const json = { principal: `the-${kind}`, kind, roles: ["reviewer"] };
      const answer = await host.ask("POST", "/v1/host/assay/keys", { json });
      expect(answer.statusCode, answer.payload).toBe(201);
      keys[kind] = { authorization: `Bearer ${answer.json().key}` };
    }
    await happen(randomFrom(7), 300);
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  async function happen(random: Random, deeds: number): Promise<void> {
    for (let n = 0; n < deeds; n++) {
      const dice = random();
      const run = runs.length === 0 ? undefined : pick(random, runs);
      if (run === undefined || dice < 0.12) await begin(random);
      else if (dice < 0.16) nowMs += Math.floor(random() * DAY_MS);
      else if (dice < 0.22) await decide(run);
      else if (dice < 0.66) await judge(random, run);
      else if (dice < 0.76) await bring(random, run);
      else await change(random, run);
    }
  }

  async function begin(random: Random): Promise<void> {
    const workflowId = pick(random, ["greet", "draft", "gated"]);
    const agentId = pick(random, [null, "writer", "reader"]);
    const as = pick<Who>(random, ["owner", "owner", "east"]);
    const runId = await gates.start(workflowId, as, agentId === null ? {} : { metadata: { agentId } });
    const waits = workflowId === "gated";
    await gates.until(runId, ({ status }) => status === (waits ? "waiting-approval" : "completed"));
    const place = as === "east" ? { workspace: "east" } : {};
    runs.push({
      runId,
      workflowId,
      agentId,
      ...place,
      ...(waits ? {} : { endedMs: nowMs }),
      intervened: false,
      judgments: [],
    });
  }

  async function decide(run: ModelRun): Promise<void> {
    if (run.endedMs !== undefined) return;
    expect((await gates.answer(run.runId, { action: "accept" })).statusCode).toBe(200);
    await gates.until(run.runId, ({ status }) => status === "completed");
    run.endedMs = nowMs;
    run.intervened = true;
  }

  async function judge(random: Random, run: ModelRun, supersedes?: ModelJudgment): Promise<void> {
    const actorKind = supersedes?.actorKind ?? pick<ActorKind>(random, ["person", "person", "agent", "code"]);
    const signal = pick(random, SIGNALS);
    const about = await target(random, run);
    const answer = await host.ask("POST", `/v1/host/assay/runs/${run.runId}/annotations`, {
      json: { signal, target: about.target, ...(supersedes && { supersedes: supersedes.annotationId }) },
      headers: keys[actorKind],
    });
    expect(answer.statusCode, answer.payload).toBe(201);
    const { annotationId } = answer.json();
    if (supersedes !== undefined) supersedes.live = false;
    const { aboutNode } = about;
    run.judgments.push({
      annotationId,
      actorKind,
      signal,
      live: true,
      ...(aboutNode === undefined ? {} : { aboutNode }),
    });
  }

  async function bring(random: Random, run: ModelRun): Promise<void> {
    const { runId, workflowId, agentId } = run;
    const actorKind = pick<ActorKind>(random, ["person", "agent", "code"]);
    const signal = pick(random, SIGNALS);
    const { target: about, aboutNode } = await target(random, run);
    const place = { target: { runId, ...about }, workflowId, ...(agentId === null ? {} : { agentId }) };
    const line = foreignLine({
      ...place,
      signal,
      actorKind,
      ...(signal.kind === "flag" && { flag: { status: "open" } }),
    });
    const answer = await host.ask("POST", "/v1/host/assay/annotations:import", { json: { lines: [HEADER, line] } });
    expect(answer.json(), answer.payload).toMatchObject({ imported: 1 });
    const { annotationId } = line;
    const node = aboutNode === undefined ? {} : { aboutNode };
    run.judgments.push({ annotationId, actorKind, signal, live: true, imported: true, ...node });
  }

  async function target(random: Random, run: ModelRun): Promise<{ target: object; aboutNode?: string }> {
    const aboutNode = run.workflowId === "gated" ? "gate" : pick(random, ["a", "b"]);
    if (random() < 0.4) return { target: {} };
    if (random() < 0.5) return { target: { nodeId: aboutNode }, aboutNode };
    const found = (await gates.events(run.runId)) as { eventId?: string; nodeId?: string }[];
    const { eventId, nodeId } = pick(random, found);
    return { target: { eventId }, ...(nodeId === undefined ? {} : { aboutNode: nodeId }) };
  }

  async function change(random: Random, run: ModelRun): Promise<void> {
    const live = run.judgments.filter((one) => one.live);
    if (live.length === 0) return;
    const one = pick(random, live);
    if (random() < 0.4 && !one.imported) return judge(random, run, one);
    const verb = one.signal.kind === "flag" && random() < 0.5 ? "close" : "retract";
    const json = verb === "close" ? { note: "seen" } : { reason: "a slip" };
    const answer = await host.ask("POST", `/v1/host/assay/annotations/${one.annotationId}:${verb}`, { json });
    // A flag that was closed before; it goes on to count.
    if (verb === "close") return void expect([200, 409]).toContain(answer.statusCode);
    expect(answer.statusCode, answer.payload).toBe(200);
    one.live = false;
  }

  async function summary(query: FeedbackSummaryQuery = {}, as: Who = "owner"): Promise<FeedbackSummary> {
    const text = new URLSearchParams(query as Record<string, string>).toString();
    const answer = await host.ask("GET", `${SUMMARY}?${text}`, { as });
    expect(answer.statusCode, answer.payload).toBe(200);
    return parse(FeedbackSummary, answer.json(), "summary");
  }

  const day = (n: number) => new Date(Date.parse("2027-03-01T00:00:00.000Z") + n * DAY_MS).toISOString();
  const FILTERS: readonly FeedbackSummaryQuery[] = [
    {},
    { workflowId: "gated" },
    { workflowId: "nothing" },
    { agentId: "writer" },
    { nodeId: "a" },
    { nodeId: "gate", workflowId: "gated" },
    { from: day(2) },
    { to: day(2) },
    { from: day(1), to: day(3), agentId: "reader" },
  ];

  test.each(FILTERS)("is what looking at every judgment gives, by anything: %o", async (filter) => {
    expect(rounded(await summary(filter))).toEqual(rounded(slowSummary(runs, filter)));
    for (const groupBy of ["workflow", "agent", "node", "day"] as const) {
      const query = { ...filter, groupBy };
      expect(rounded(await summary(query)), groupBy).toEqual(rounded(slowSummary(runs, query)));
    }
  });

  test("is the same story, told by groups", async () => {
    const { total, groups } = await summary({ groupBy: "workflow" });
    expect(total.annotations).toBeGreaterThan(20);
    expect(total.agents.annotations).toBeGreaterThan(5);
    expect(total.code.annotations).toBeGreaterThan(5);
    expect(total.imported).toBeGreaterThan(5);
    expect(groups.reduce((sum, { runs }) => sum + runs, 0)).toBe(total.runs);
    expect((await summary({ groupBy: "day" })).groups.length).toBeGreaterThan(2);
    expect((await summary({ groupBy: "agent" })).groups.map(({ key }) => key)).toContainEqual({ agentId: null });
  });

  test("is of the caller's workspace and tenant", async () => {
    const query = { groupBy: "workflow" } as const;
    const mine = slowSummary(runs, { ...query, workspace: "east" });
    expect(rounded(await summary(query, "east"))).toEqual(rounded(mine));
    expect((await summary(query, "west")).groups).toEqual([]);
    expect((await summary(query, "other")).total.runs).toBe(0);
    expect((await summary(query, "viewer")).total.runs).toBeGreaterThan(0);
    expectError(await host.ask("GET", SUMMARY, { as: "stranger" }), "forbidden");
  });

  test("takes no time that is none, and nothing that it does not know", async () => {
    for (const query of [
      "from=yesterday-at-noon-or-so",
      "to=2027-02-30T00:00:00Z",
      "groupBy=mood",
      "limit=1",
      "workflowId=",
    ]) {
      expectError(await host.ask("GET", `${SUMMARY}?${query}`), "validation_error");
    }
  });
});
