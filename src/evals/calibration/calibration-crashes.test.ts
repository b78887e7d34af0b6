import { beforeEach, describe, expect, test } from "vitest";
import type { Host } from "../../engine/host.ts";
import type { CalibrateJudge } from "../../protocol/evals/judge-certificate-api.ts";
import { judgedSuite, judgedTask, refOf } from "../../testing/calibration-bench.ts";
import { dyingAt } from "../../testing/dying-store.ts";
import { ADA, logOf, until, workerOn } from "../../testing/engine.ts";
import { agentOf, agentsOf, beginEval, echo, evalHost } from "../../testing/eval-bench.ts";
import { type LexicalJudge, lexicalJudge } from "../../testing/lexical-judge.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { judgeTask } from "../override/judge-task.ts";
import type { EvalServices } from "../run/eval-run.ts";
import { calibrationNode } from "./calibration-node.ts";
import { allCertificates } from "./certificate.ts";
import { createCalibration } from "./create-calibration.ts";
import { readVerdicts } from "./judge-gold.ts";

const bench = workbench();
const record = () => undefined;
const LEASES = { leaseMs: 60_000, renewMs: 600_000, sweepMs: 5 };
const OUTPUTS = ["please a", "please b", "now c", "please d", "now e"];
const SUITE = judgedSuite(
  "crashes",
  OUTPUTS.map((output, i) => judgedTask(`t${i}`, output)),
);

describe("a calibration", () => {
  let host: Host;
  let services: EvalServices;
  let judge: LexicalJudge;
  let evaluated: string;
  /** How often it had been asked before the calibration. */
  let asked: number;

  /** An evaluation of five outputs that people judged as the judge does. */
  beforeEach(async () => {
    judge = lexicalJudge();
    const agents = agentsOf([agentOf()], echo);
    const made = await evalHost(bench.store, SUITE, { agents, judge: judge.judge });
    services = made.services;
    const node = calibrationNode(made.host, () => services);
    host = { ...made.host, nodeTypes: new Map([...made.host.nodeTypes, [node.typeId, node]]) };
    const worker = bench.work(host);
    evaluated = await beginEval({ host: { ...host, localWorker: worker }, services }, {}, { suite: SUITE.suiteId });
    await until(bench.store, evaluated, ended);
    await worker.stop(0);
    for (const [i, output] of OUTPUTS.entries()) {
      const label = output.startsWith("please") ? "pass" : "fail";
      await judgeTask(host, { caller: ADA, runId: evaluated, taskId: `t${i}`, request: { label }, record });
    }
    asked = judge.asked.length;
  });

  async function begun(more: Partial<CalibrateJudge> = {}): Promise<string> {
    const request = { suite: refOf(SUITE), runIds: [evaluated], concurrency: 1, ...more };
    return (await createCalibration(host, services, { caller: ADA, request, record })).runId;
  }

  /** By its clock every lease is over; by that of a busy machine a short one might be while its holder lives. */
  const later = (): Host => ({ ...host, nowMs: () => host.nowMs() + 2 * LEASES.leaseMs });

  test("asks about nothing again that has its verdict, and issues one certificate, whichever commit its worker dies at", async () => {
    const reports = new Set<string>();
    for (const written of [false, true]) {
      for (let n = 1; ; n += 1) {
        asked = judge.asked.length;
        const dying = dyingAt(host.store, n, written);
        const runId = await begun();
        const doomed = workerOn({ ...host, store: dying.store }, { ...LEASES, onError: () => {} });
        await until(bench.store, runId, (run) => dying.died() || ended(run));
        const rescuer = bench.work(later(), LEASES);
        const run = await until(bench.store, runId, ended);
        expect(run.status).toBe("completed");
        const issued = (await allCertificates(bench.store, ADA)).filter((one) => one.runId === runId);
        expect(issued).toHaveLength(1);
        expect(run.outputs).toEqual({ certificateId: issued[0]?.certificateId });
        expect(issued[0]?.costUsd).toBeCloseTo(OUTPUTS.length * 0.001, 9);
        reports.add(JSON.stringify(issued[0]?.certificate.report));
        // The one whose verdict was not written when the worker died is asked about twice, and counted once.
        expect(judge.asked.length - asked).toBeLessThanOrEqual(OUTPUTS.length + (written ? 0 : 1));
        const log = await logOf(bench.store, runId);
        expect(log.filter(({ type }) => type === "provider.usage")).toHaveLength(OUTPUTS.length);
        void doomed.stop(0);
        await rescuer.stop(0);
        if (!dying.died()) break;
      }
    }
    expect(reports.size).toBe(1);
  });

  test("stops when its budget is spent, with an outcome of its own and no certificate", async () => {
    bench.work(host);
    const run = await until(bench.store, await begun({ budgetUsd: 0.0015 }), ended);
    expect(run).toMatchObject({
      status: "failed",
      error: { code: "judge_budget_exceeded", message: expect.stringContaining("after 2 of 5 outputs") },
    });
    expect(judge.asked.length - asked).toBe(2);
    expect(await allCertificates(bench.store, ADA)).toEqual([]);
    expect(await until(bench.store, await begun({ budgetUsd: 0.005 }), ended)).toMatchObject({ status: "completed" });
  });

  test("has spent what was spent before its worker died", async () => {
    for (let n = 1; ; n += 1) {
      const dying = dyingAt(host.store, n, true);
      const runId = await begun({ budgetUsd: 0.0025 });
      const doomed = workerOn({ ...host, store: dying.store }, { ...LEASES, onError: () => {} });
      await until(bench.store, runId, (run) => dying.died() || ended(run));
      const rescuer = bench.work(later(), LEASES);
      const run = await until(bench.store, runId, ended);
      expect(run.error?.message).toContain("after 3 of 5 outputs");
      void doomed.stop(0);
      await rescuer.stop(0);
      if (!dying.died()) break;
    }
  });

  test("is not carried out by another judge than it was started with, nor with another prompt", async () => {
    const usual = services;
    for (const changes of [{ fingerprint: "lexical:2" }, { kind: "model" }] as const) {
      services = usual;
      const runId = await begun();
      services = { ...usual, judge: lexicalJudge(changes).judge };
      const worker = bench.work(host);
      expect((await until(bench.store, runId, ended)).error?.code).toBe("eval_judge_changed");
      await worker.stop(0);
    }
    expect(await allCertificates(bench.store, ADA)).toEqual([]);
  });

  test("keeps no secret that a judge complains with", async () => {
    const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    const error = { code: "agent_error", message: `no entry with ${secret}`, retryable: false } as const;
    services = { ...services, judge: lexicalJudge({ call: async () => ({ type: "failed", error }) }).judge };
    bench.work(host);
    const run = await until(bench.store, await begun(), ended);
    expect(run.error).toMatchObject({
      code: "judge_calibration_incomplete",
      message: expect.stringMatching(/no verdict on 5 of 5 outputs; .*no entry with /),
    });
    const kept = await readVerdicts(bench.store, run.owner.tenant, run.runId);
    expect(kept).toHaveLength(OUTPUTS.length);
    expect(JSON.stringify([run, kept, await logOf(bench.store, run.runId)])).not.toContain(secret);
  });

  test("is held to what the host lets one cost", async () => {
    services = { ...services, settings: { ...services.settings, maxCostUsdPerSuite: 0.001 } };
    await expect(begun({ budgetUsd: 0.01 })).rejects.toMatchObject({
      code: "validation_error",
      details: { problem: expect.stringContaining("0.001 USD at most") },
    });
    bench.work(host);
    const run = await until(bench.store, await begun(), ended);
    expect(run.error?.code).toBe("judge_budget_exceeded");
  });
});
