import { expect, test } from "vitest";
import { ADA } from "../../testing/engine.ts";
import { agentOf, agentsOf, beginEval, echo, evalHost, goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { workbench } from "../../testing/workbench.ts";
import { gatherGold } from "./gather-gold.ts";

const bench = workbench();

test("nothing is compared with an evaluation that has not ended", async () => {
  const suite = suiteOf([goldenTask("a", "a")]);
  const made = await evalHost(bench.store, suite, { agents: agentsOf([agentOf()], echo) });
  const runId = await beginEval(made);
  const gathered = gatherGold(made.host, ADA, { suite, runIds: [runId] });
  await expect(gathered).rejects.toMatchObject({
    code: "run_state_conflict",
    details: { runId, runStatus: "pending" },
  });
});
