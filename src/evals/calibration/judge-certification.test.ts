import { describe, expect, test } from "vitest";
import { sha256 } from "../../testing/builders.ts";
import { judgedSuite, judgedTask } from "../../testing/calibration-bench.ts";
import { ADA, until } from "../../testing/engine.ts";
import { agentOf, agentsOf, beginEval, echo, evalHost, goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { keptCertificate } from "../../testing/kept-certificate.ts";
import { lexicalJudge } from "../../testing/lexical-judge.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { evidenceSources } from "../evidence/evidence-sources.ts";
import { certificateOf } from "./certificate.ts";
import { certifiedJudge, judgeCertification, recordedJudge } from "./judge-certification.ts";

const bench = workbench();
const DAY_MS = 86_400_000;
const SUITE = judgedSuite("standing", [judgedTask("a", "please")]);
const { judge } = lexicalJudge();

/** A certificate of the judge of this file for its suite, as good as can be. */
async function certified(changes: Parameters<typeof keptCertificate>[1] = {}, owner = { tenant: "t1" }) {
  const { certificate } = await keptCertificate(bench.store, { certificateId: idOf(0) }, { tenant: "elsewhere" });
  const now = certificate.issuedAt;
  const own = certificateOf(certificate.report, certifiedJudge(judge.identity, SUITE), [], { now });
  const record = { certificateId: idOf(1), suiteId: SUITE.suiteId, certificate: own, ...changes };
  await keptCertificate(bench.store, record, owner);
  return own;
}

const idOf = (n: number) => `cert-01k2v6w0d9q3c5x7m8n4p2r1${String(n).padStart(2, "0")}`;
const codes = async (more: { days?: number; visible?: object; suite?: typeof SUITE; judge?: typeof judge } = {}) => {
  const host = { store: bench.store, nowMs: () => Date.now() + (more.days ?? 0) * DAY_MS };
  const visible = { tenant: "t1", ...more.visible };
  const recorded = recordedJudge(more.judge ?? judge);
  return (await judgeCertification(host, visible, more.suite ?? SUITE, recorded)).problems.map(({ code }) => code);
};

describe("a judge", () => {
  test("is certified until the last day, for the tenant and the workspace that calibrated it", async () => {
    expect(await codes()).toEqual(["certificate_missing"]);
    await certified();
    expect(await codes()).toEqual([]);
    expect(await codes({ days: 89 })).toEqual([]);
    expect(await codes({ days: 91 })).toEqual(["expired"]);
    expect(await codes({ days: -1 })).toEqual(["not_yet_issued"]);
    expect(await codes({ visible: { tenant: "t2" } })).toEqual(["certificate_missing"]);
    expect(await codes({ visible: { workspace: "w1" } })).toEqual(["certificate_missing"]);
    const host = { store: bench.store, nowMs: () => Date.now() };
    const unknown = await judgeCertification(host, { tenant: "t1" }, SUITE, undefined);
    expect(unknown.problems.map(({ code }) => code)).toEqual(["judge_missing"]);
  });

  test("is another one with other settings, and the rubrics are others with another bar", async () => {
    await certified();
    expect(await codes({ judge: lexicalJudge({ fingerprint: "lexical:2" }).judge })).toEqual(["model_changed"]);
    expect(await codes({ judge: lexicalJudge({ kind: "model" }).judge })).toEqual(["prompt_changed"]);
    expect(await codes({ suite: { ...SUITE, thresholds: { passScore: 0.5 } } })).toEqual(["rubric_changed"]);
    // What is golden is not judged, and a task more with the same rubric is judged the same way.
    const more = { ...SUITE, version: "2.0.0", tasks: [...SUITE.tasks, goldenTask("g", 1), judgedTask("b", "now")] };
    expect(await codes({ suite: more })).toEqual([]);
  });

  test("keeps the certificate of what it was before, should that come back", async () => {
    const own = await certified();
    const other = { ...own, hashes: { ...own.hashes, modelSha256: sha256("other") } };
    await keptCertificate(bench.store, { certificateId: idOf(2), suiteId: SUITE.suiteId, certificate: other });
    expect(await codes()).toEqual([]);
  });

  test("cannot be certified by what is no certificate", async () => {
    await certified();
    const document = { tenant: "t1", kind: "certificate", key: `["","${idOf(3)}"]`, revision: 1, atMs: 1 } as const;
    const body = JSON.stringify({ suiteId: SUITE.suiteId, certificate: { n: 1000, kappa: 1 } });
    await bench.store.commit({ tenant: "t1", documents: [{ type: "put", document: { ...document, body } }] });
    expect(await codes({ judge: lexicalJudge({ fingerprint: "lexical:2" }).judge })).toEqual(["model_changed"]);
  });
});

describe("what is to be deployed because of an evaluation", () => {
  async function evaluated(suite: typeof SUITE) {
    const made = await evalHost(bench.store, suite, { agents: agentsOf([agentOf()], echo), judge });
    const runId = await beginEval(
      { ...made, host: { ...made.host, localWorker: bench.work(made.host) } },
      {},
      { suite: suite.suiteId },
    );
    await until(bench.store, runId, ended);
    return { host: made.host, runId };
  }

  test("rests on the certificate of the judge that scored it, with each reason why there is none that holds", async () => {
    const { host, runId } = await evaluated(SUITE);
    const problems = (bar = {}) => evidenceSources(host).certificateProblems?.(ADA, runId, bar);
    expect(await problems()).toEqual([expect.stringContaining("no certificate of this judge")]);
    await certified();
    expect(await problems()).toEqual([]);
    expect(await problems({ minN: 61 })).toEqual([expect.stringContaining("60 outputs; 61")]);
    expect(await problems({ minKappa: 1.1, minN: 61 })).toHaveLength(2);
  });

  test("needs no certificate where nothing was judged", async () => {
    const { host, runId } = await evaluated(suiteOf([goldenTask("a", "a")]));
    expect(await evidenceSources(host).certificateProblems?.(ADA, runId, {})).toEqual([]);
  });
});
