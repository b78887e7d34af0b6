import { describe, expect, test } from "vitest";
import type { EvidenceAsked } from "../../agents/deployments/evidence.ts";
import { definitionHash } from "../../engine/plans.ts";
import { AppError } from "../../protocol/errors.ts";
import { EVAL_WORKFLOW_ID } from "../../protocol/eval-api.ts";
import { begin, until } from "../../testing/engine.ts";
import { agentOf, agentsOf, beginEval, echo, evalHost, goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { evidenceReader } from "./evidence-reader.ts";

const bench = workbench();

async function evaluated() {
  const agent = agentOf();
  const suite = suiteOf(["a", "b"].map((one) => goldenTask(one, one)));
  const made = await evalHost(bench.store, suite, { agents: agentsOf([agent], echo) });
  const host = { ...made.host, hands: bench.work(made.host) };
  const evalRunId = await beginEval({ ...made, host });
  const run = await until(bench.store, evalRunId, ended);
  const asked: EvidenceAsked = { visible: { tenant: "t1" }, agent, evalRunId };
  return { host, run, asked };
}

const unmet = (conditions: readonly { condition: string; met: boolean }[]) =>
  conditions.filter(({ met }) => !met).map(({ condition }) => condition);

describe("evidence", () => {
  test("is an evaluation that the host made: a workflow under the name of evaluations proves nothing", async () => {
    const { host, run, asked } = await evaluated();
    expect(unmet(await evidenceReader(host).conditions(asked))).toEqual([]);
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
    expect(unmet(await evidenceReader(host).conditions({ ...asked, evalRunId }))).toEqual(["evaluation found"]);
  });

  test("may be asked to be young", async () => {
    const { host, asked } = await evaluated();
    const required = { suite: "local.test.evals.echo@1.0.0", suiteSha256: await shaOf(host), maxAgeSec: 60 };
    const at = (later: number) =>
      evidenceReader({ ...host, nowMs: () => Date.now() + later }).conditions({ ...asked, required });
    expect(unmet(await at(0))).toEqual([]);
    expect(unmet(await at(120_000))).toEqual(["age"]);
  });

  test("is missing where what it is asked about cannot be read", async () => {
    const { host, asked } = await evaluated();
    const suite = { suite: "local.test.evals.echo@1.0.0", suiteSha256: await shaOf(host) };
    const required = { ...suite, acceptHumanOverrides: true, requireCertificate: true };
    expect(unmet(await evidenceReader(host).conditions({ ...asked, required }))).toEqual([
      "score",
      "judge certificate",
    ]);
    const { suiteSha256: _, ...unpinned } = suite;
    expect(unmet(await evidenceReader(host).conditions({ ...asked, required: unpinned }))).toEqual(["suite content"]);
  });

  test("is missing where those who are asked about it fail, and they say why", async () => {
    const { host, asked } = await evaluated();
    const fails = async () => {
      throw new AppError("not_found", { what: "suite" });
    };
    const reader = evidenceReader(host, { overriddenSummary: fails, certificateProblems: fails });
    const required = { suite: "local.test.evals.echo@1.0.0", suiteSha256: await shaOf(host) };
    const demands = { ...required, acceptHumanOverrides: true, requireCertificate: true };
    const conditions = await reader.conditions({ ...asked, required: demands });
    expect(unmet(conditions)).toEqual(["score", "judge certificate"]);
    expect(conditions.at(-1)?.found).toContain("There is no suite here");
  });

  test("of a tenant is none of another one's", async () => {
    const { host, asked } = await evaluated();
    const elsewhere = { ...asked, visible: { tenant: "t2" } };
    expect(unmet(await evidenceReader(host).conditions(elsewhere))).toEqual(["evaluation found"]);
  });

  test("that has not ended is none yet", async () => {
    const agent = agentOf();
    const suite = suiteOf([goldenTask("a", "a")]);
    const made = await evalHost(bench.store, suite, { agents: agentsOf([agent], echo) });
    const evalRunId = await beginEval(made);
    const asked = { visible: { tenant: "t1" }, agent, evalRunId };
    expect(unmet(await evidenceReader(made.host).conditions(asked))).toEqual(["evaluation ended"]);
  });
});

function shaOf(host: Parameters<typeof evidenceReader>[0]): Promise<string> {
  return evidenceReader(host).suiteSha256({ tenant: "t1" }, "local.test.evals.echo@1.0.0");
}
