import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AnnotationPage, AnnotationView } from "../../../src/protocol/judgments/annotation-api.ts";
import type { FeedbackSummary } from "../../../src/protocol/judgments/feedback-api.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { DeploymentBench } from "../../../src/testing/deployment-bench.ts";
import { until } from "../../../src/testing/engine.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError } from "../../../src/testing/host.ts";
import { ended } from "../../../src/testing/workbench.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const WRITER = "local.test.writer";
const CHECKER = "local.test.checker";
const NAMED = "a-name-of-the-starter";

describe.each(HTTP_STORES)("agents that the host called, on %s", (_, open) => {
  let bench: DeploymentBench;
  let gates: GateClient;
  let drop: () => Promise<void>;
  let alone = "";
  let both = "";
  let named = "";
  let none = "";

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await DeploymentBench.on(opened.store);
    gates = new GateClient(bench.host);
    const asks = (agentId: string) => ({ typeId: "core.identity", agent: { agentId } });
    await gates.registerWorkflow(workflow({ id: "one-agent", nodes: { write: asks(WRITER) } as never }));
    await gates.registerWorkflow(
      workflow({
        id: "two-agents",
        nodes: { write: asks(WRITER), check: asks(CHECKER), again: asks(WRITER), last: "core.noop" } as never,
        edges: ["write>check", "check>again", "again>last"],
      }),
    );
    await gates.registerWorkflow(workflow({ id: "no-agent", nodes: { a: "core.noop" } }));
    alone = await run("one-agent", { tags: ["nightly", 'say "hi"'] });
    both = await run("two-agents", { tags: ["weekly"] });
    named = await run("one-agent", { metadata: { agentId: NAMED } });
    none = await run("no-agent", { inputs: {}, metadata: { note: "nightly" } });
  });
  afterAll(async () => {
    await bench.host.close();
    await drop();
  });

  async function run(workflowId: string, request: object): Promise<string> {
    const runId = await gates.start(workflowId, "owner", request);
    expect((await until(bench.host.store, runId, ended)).status).toBe("completed");
    return runId;
  }

  async function get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
    const answer = await bench.host.ask("GET", `${path}?${new URLSearchParams(query)}`);
    expect(answer.statusCode, answer.payload).toBe(200);
    return answer.json();
  }

  async function annotate(runId: string, rating: number, target?: object): Promise<AnnotationView> {
    const json = { signal: { kind: "rating", rating }, ...(target === undefined ? {} : { target }) };
    const answer = await bench.host.ask("POST", `/v1/runs/${runId}/annotations`, { json });
    expect(answer.statusCode, answer.payload).toBe(201);
    const { annotationId } = answer.json();
    const page = await get<AnnotationPage>("/v1/host/assay/annotations", { runId });
    return page.annotations.find((one) => one.annotationId === annotationId) as AnnotationView;
  }

  const runIds = async (query: Readonly<Record<string, string>>) => {
    const page = await get<{ runs: { runId: string }[] }>("/v1/runs", query);
    return page.runs.map(({ runId }) => runId);
  };

  test("are what the list of runs is filtered by", async () => {
    expect(await runIds({ agentId: WRITER })).toEqual([named, both, alone]);
    expect(await runIds({ agentId: CHECKER })).toEqual([both]);
    expect(await runIds({ agentId: NAMED })).toEqual([named]);
    expect(await runIds({ agentId: "local.test" })).toEqual([]);
    expect(await runIds({ agentId: WRITER, tag: "weekly" })).toEqual([both]);
  });

  test("tags filter the list of runs by the whole tag, and by tags only", async () => {
    expect(await runIds({ tag: "nightly" })).toEqual([alone]);
    expect(await runIds({ tag: 'say "hi"' })).toEqual([alone]);
    expect(await runIds({ tag: "night" })).toEqual([]);
    expect(await runIds({ tag: "two-agents" })).toEqual([]);
  });

  test("the list of runs is bounded by when runs were created", async () => {
    const before = new Date(Date.now() - 3_600_000).toISOString();
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const all = [none, named, both, alone];
    expect((await runIds({ from: before, to: later })).filter((id) => all.includes(id))).toEqual(all);
    expect(await runIds({ from: later })).toEqual([]);
    expect(await runIds({ to: before })).toEqual([]);
    expect(await runIds({ to: before, tag: "nightly" })).toEqual([]);
    const refused = await bench.host.ask("GET", "/v1/runs?from=2027-02-30T00:00:00Z");
    expectError(refused, "validation_error");
  });

  test("filtered pages go on where the last one ended", async () => {
    const first = await get<{ runs: { runId: string }[]; nextCursor?: string }>("/v1/runs", {
      agentId: WRITER,
      limit: "2",
    });
    expect(first.runs.map(({ runId }) => runId)).toEqual([named, both]);
    expect(await runIds({ agentId: WRITER, limit: "2", cursor: String(first.nextCursor) })).toEqual([alone]);
  });

  test("are counted by the summary, a run with several for each of them", async () => {
    await annotate(alone, 5);
    await annotate(both, 3);
    await annotate(named, 1);
    const summary = (query: Readonly<Record<string, string>>) =>
      get<FeedbackSummary>("/v1/host/assay/feedback/summary", query);
    const means = ({ groups }: FeedbackSummary) =>
      groups.map(({ key, runs, ratings }) => [key.agentId, runs, ratings.mean]);
    const grouped = means(await summary({ groupBy: "agent" }));
    expect(grouped).toContainEqual([NAMED, 1, 1]);
    expect(grouped).toContainEqual([CHECKER, 1, 3]);
    expect(grouped).toContainEqual([WRITER, 3, 3]);
    expect((await summary({ agentId: CHECKER })).total).toMatchObject({ runs: 1 });
    expect((await summary({ agentId: WRITER })).total).toMatchObject({ runs: 3 });
    expect(means(await summary({ agentId: CHECKER, groupBy: "agent" }))).toEqual([[CHECKER, 1, 3]]);
  });

  test("are what judgments are of: all agents of the run, or those that the judged node called", async () => {
    const whole = await annotate(both, 4);
    expect(whole).toMatchObject({ agentId: WRITER, otherAgents: [CHECKER] });
    const checked = await annotate(both, 2, { nodeId: "check" });
    expect(checked.agentId).toBe(CHECKER);
    expect(checked).not.toHaveProperty("otherAgents");
    const other = await annotate(both, 2, { nodeId: "last" });
    expect(other).toMatchObject({ agentId: WRITER, otherAgents: [CHECKER] });
    const list = async (agentId: string, order = "newest", limit = "200") => {
      const page = await get<AnnotationPage>("/v1/host/assay/annotations", { agentId, order, limit, runId: both });
      return page.annotations.map(({ annotationId }) => annotationId);
    };
    const [a, b, c] = [whole, checked, other].map(({ annotationId }) => annotationId);
    expect((await list(CHECKER)).slice(0, 3)).toEqual([c, b, a]);
    expect((await list(CHECKER, "newest", "2")).slice(0, 3)).toEqual([c, b]);
    expect((await list(CHECKER, "oldest")).slice(-3)).toEqual([a, b, c]);
    const ofWriter = await list(WRITER);
    expect(ofWriter).toContain(a);
    expect(ofWriter).not.toContain(b);
  });

  test("are exported with their judgments, and taken in again", async () => {
    const exported = await bench.host.ask("GET", "/v1/host/assay/annotations:export");
    expect(exported.statusCode, exported.payload).toBe(200);
    expect(exported.payload).toContain(`"otherAgents":["${CHECKER}"]`);
    const lines = exported.payload
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const again = await bench.host.ask("POST", "/v1/host/assay/annotations:import", { json: { lines } });
    expect(again.statusCode, again.payload).toBe(200);
    expect(again.json()).toEqual({ imported: 0, updated: 0, unchanged: lines.length - 2, refused: [] });
  });

  test("bring their runs into queues that ask for one of them", async () => {
    const json = { name: "checked", judgment: { kind: "rating" }, query: { agentId: CHECKER } };
    const made = await bench.host.ask("POST", "/v1/host/assay/queues", { json });
    expect(made.statusCode, made.payload).toBe(201);
    const queue = `/v1/host/assay/queues/${made.json().queueId}`;
    await get(queue);
    const { items } = await get<{ items: { runId: string; agentId?: string }[] }>(`${queue}/items`);
    expect(items).toMatchObject([{ runId: both, agentId: CHECKER }]);
  });
});
