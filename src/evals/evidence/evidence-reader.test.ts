import { describe, expect, test } from "vitest";
import type { EvidenceAsked } from "../../agents/deployments/evidence.ts";
import { definitionHash } from "../../engine/workflows/plans.ts";
import { baselineFileOf } from "../../formats/evals/baseline-file.ts";
import { AppError } from "../../protocol/errors.ts";
import { EVAL_WORKFLOW_ID } from "../../protocol/evals/api.ts";
import type { Evidence } from "../../protocol/promotion/evidence.ts";
import { ADA, begin, until } from "../../testing/engine.ts";
import {
  agentOf,
  agentsOf,
  type Behaviour,
  beginEval,
  echo,
  evalHost,
  goldenTask,
  suiteOf,
} from "../../testing/eval-bench.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { overriddenSummary } from "../override/overridden.ts";
import { keepBaselineFile } from "../run/baseline.ts";
import { evalReport } from "../run/eval-report.ts";
import { exportBaseline, setBaseline } from "../run/named-baselines.ts";
import { loadSuite, requireSuite } from "../suite/load-suite.ts";
import { keepDraft } from "../suite/replace-suite.ts";
import { evidenceReader } from "./evidence-reader.ts";
import { evidenceSources } from "./evidence-sources.ts";

const bench = workbench();

async function evaluated() {
  const agent = agentOf();
  const suite = suiteOf(["a", "b"].map((one) => goldenTask(one, one)));
  const made = await evalHost(bench.store, suite, { agents: agentsOf([agent], echo) });
  const host = { ...made.host, localWorker: bench.work(made.host) };
  const evalRunId = await beginEval({ ...made, host });
  const run = await until(bench.store, evalRunId, ended);
  const asked: EvidenceAsked = { visible: { tenant: "t1" }, agent, evalRunId };
  return { host, run, asked };
}

const unmet = ({ conditions }: Evidence) => conditions.filter(({ met }) => !met).map(({ condition }) => condition);

describe("evidence", () => {
  test("is an evaluation that the host made: a workflow under the name of evaluations proves nothing", async () => {
    const { host, run, asked } = await evaluated();
    expect(unmet(await evidenceReader(host).read(asked))).toEqual([]);
    const forged = workflow({
      id: EVAL_WORKFLOW_ID,
      nodes: { a: "core.noop" },
      variables: [{ name: "plan", type: "object", required: true }],
    } as Parameters<typeof workflow>[0]);
    // The name is kept for the host; a database may be older than that rule.
    const hash = definitionHash(forged);
    const definition = JSON.stringify(forged);
    const workflows = [{ tenant: "t1", workflowId: forged.id, hash, definition, atMs: Date.now() }];
    await host.store.commit({ tenant: "t1", workflows });
    const evalRunId = await begin(host, { workflowId: forged.id, inputs: { plan: run.variables["plan"] } });
    const claimed = await until(bench.store, evalRunId, ended);
    expect(claimed).toMatchObject({ status: "completed", workflowId: EVAL_WORKFLOW_ID });
    expect(unmet(await evidenceReader(host).read({ ...asked, evalRunId }))).toEqual(["evaluation found"]);
  });

  test("may be asked to be young", async () => {
    const { host, run, asked } = await evaluated();
    const required = { suite: "local.test.evals.echo@1.0.0", suiteSha256: await shaOf(host), maxAgeSec: 60 };
    const at = (later: number) =>
      evidenceReader({ ...host, nowMs: () => Date.parse(run.endedAt ?? "") + later }).read({ ...asked, required });
    expect(unmet(await at(60_000))).toEqual([]);
    expect(unmet(await at(60_001))).toEqual(["age"]);
  });

  test("is missing where what it is asked about cannot be read", async () => {
    const { host, asked } = await evaluated();
    const suite = { suite: "local.test.evals.echo@1.0.0", suiteSha256: await shaOf(host) };
    const required = { ...suite, acceptHumanOverrides: true, requireCertificate: true };
    expect(unmet(await evidenceReader(host).read({ ...asked, required }))).toEqual(["score", "judge certificate"]);
    const { suiteSha256: _, ...unpinned } = suite;
    expect(unmet(await evidenceReader(host).read({ ...asked, required: unpinned }))).toEqual(["suite content"]);
  });

  test("is missing where those who are asked about it fail, and they say why", async () => {
    const { host, asked } = await evaluated();
    const fails = async () => {
      throw new AppError("not_found", { what: "suite" });
    };
    const reader = evidenceReader(host, { overriddenSummary: fails, certificateProblems: fails });
    const required = { suite: "local.test.evals.echo@1.0.0", suiteSha256: await shaOf(host) };
    const demands = { ...required, acceptHumanOverrides: true, requireCertificate: true };
    const evidence = await reader.read({ ...asked, required: demands });
    expect(unmet(evidence)).toEqual(["score", "judge certificate"]);
    expect(evidence.conditions.at(-1)?.found).toContain("There is no suite here");
    // What may be there in a moment is no answer yet.
    const away = async () => {
      throw new AppError("unavailable", { reason: "away" });
    };
    const soon = evidenceReader(host, { overriddenSummary: away }).read({ ...asked, required: demands });
    await expect(soon).rejects.toMatchObject({ code: "unavailable" });
  });

  test("says nothing about a suite that has other tasks by now", async () => {
    const { host, asked } = await evaluated();
    const bytes = Buffer.from(JSON.stringify(suiteOf(["a", "c"].map((one) => goldenTask(one, one)))));
    expect(await keepDraft(host, ADA, requireSuite(loadSuite(bytes), "the suite"))).toBe("replaced");
    expect(unmet(await evidenceReader(host).read(asked))).toEqual(["all tasks"]);
  });

  test("of a tenant is none of another one's", async () => {
    const { host, asked } = await evaluated();
    const elsewhere = { ...asked, visible: { tenant: "t2" } };
    expect(unmet(await evidenceReader(host).read(elsewhere))).toEqual(["evaluation found"]);
  });

  test("that has not ended is none yet", async () => {
    const agent = agentOf();
    const suite = suiteOf([goldenTask("a", "a")]);
    const made = await evalHost(bench.store, suite, { agents: agentsOf([agent], echo) });
    const evalRunId = await beginEval(made);
    const asked = { visible: { tenant: "t1" }, agent, evalRunId };
    expect(unmet(await evidenceReader(made.host).read(asked))).toEqual(["evaluation ended"]);
  });

  test("is no baseline that was imported, under whatever name", async () => {
    const { host, run, asked } = await evaluated();
    const id = { suiteId: "local.test.evals.echo", name: "main" };
    await setBaseline(host, ADA, id, { runId: run.runId });
    const { format: _, version: __, sha256: ___, ...said } = await exportBaseline(host, ADA, id);
    const file = baselineFileOf({ ...said, runId: "run-elsewhere" });
    await keepBaselineFile(host, ADA, file.sha256, file);
    expect(await setBaseline(host, ADA, id, { fileSha256: file.sha256 })).toMatchObject({ runId: file.runId });
    for (const evalRunId of [file.runId, file.sha256, "main"]) {
      expect(unmet(await evidenceReader(host).read({ ...asked, evalRunId }))).toEqual(["evaluation found"]);
    }
  });

  test("is nothing that was stopped, however well the tasks went that were done", async () => {
    const agent = agentOf();
    const suite = suiteOf(["a", "b"].map((one) => goldenTask(one, one)));
    const paid: Behaviour = (task, watch) => {
      watch.usage({ provider: "p", model: "m", inputTokens: 1, outputTokens: 1, costUsd: 1 });
      return echo(task, watch);
    };
    const made = await evalHost(bench.store, suite, { agents: agentsOf([agent], paid) });
    const host = { ...made.host, localWorker: bench.work(made.host) };
    const evalRunId = await beginEval({ ...made, host }, { budgetUsd: 0.5, concurrency: 1 });
    expect(await until(bench.store, evalRunId, ended)).toMatchObject({ status: "failed" });
    expect(await evalReport(host, ADA, evalRunId)).toMatchObject({ complete: false, aggregateScore: 1 });
    const asked = { visible: { tenant: "t1" }, agent, evalRunId };
    for (const acceptHumanOverrides of [false, true]) {
      const required = { acceptHumanOverrides };
      const reader = evidenceReader(host, evidenceSources(host));
      expect(unmet(await reader.read({ ...asked, required }))).toEqual(["evaluation ended"]);
    }
    await expect(overriddenSummary(host, ADA, evalRunId)).rejects.toMatchObject({ code: "run_state_conflict" });
  });
});

function shaOf(host: Parameters<typeof evidenceReader>[0]): Promise<string> {
  return evidenceReader(host).suiteSha256({ tenant: "t1" }, "local.test.evals.echo@1.0.0");
}
