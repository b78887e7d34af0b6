import { expect, test } from "vitest";
import type { EvalTask } from "../../protocol/evals/eval-suite.ts";
import { ADA, until } from "../../testing/engine.ts";
import { agentOf, agentsOf, beginEval, echo, evalHost, goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { lexicalJudge } from "../../testing/lexical-judge.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { certificateProblemsOf } from "./evidence-sources.ts";

const bench = workbench();
const judged: EvalTask = {
  ...goldenTask("judged", "polite"),
  expected: { kind: "rubric", rubric: [{ criterion: "polite", weight: 1 }] },
};

test("an evaluation that a judge scored is no proof without a certificate of that judge; one that no judge scored needs none", async () => {
  const suite = suiteOf([judged, goldenTask("plain", "a")], { modes: ["golden", "rubric"] });
  const agents = agentsOf([agentOf()], echo);
  const made = await evalHost(bench.store, suite, { agents, judge: lexicalJudge().judge });
  bench.work(made.host);
  const problemsWith = async (...taskIds: string[]) => {
    const runId = await beginEval(made, { taskIds });
    await until(bench.store, runId, ended);
    return certificateProblemsOf(made.host, ADA, runId, {});
  };
  expect(await problemsWith("judged", "plain")).toEqual(["There is no certificate of this judge; calibrate it."]);
  expect(await problemsWith("plain")).toEqual([]);
});
