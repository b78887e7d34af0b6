import { expect, test } from "vitest";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { Tombstone } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { annotationOf, judging, label, recording } from "../../testing/annotation-builders.ts";
import { newTenant } from "../../testing/builders.ts";
import { deletionOf, endedRun } from "../../testing/store-contract/deletion.ts";
import { accept } from "../../testing/store-contract/subject.ts";
import { gatherGold } from "../calibration/gather-gold.ts";
import { scoreJudgments } from "../override/score-judgments.ts";

test("what people said is neither the score of an evaluation nor gold for a judge while its run is being deleted", async () => {
  const whole = await openSqliteStore({ path: ":memory:" });
  const run = await endedRun(whole, { tenant: newTenant() });
  const { tenant } = run.owner;
  await accept(whole, judging(tenant, recording(annotationOf(run, { signal: label("fail") }))));
  const buried: Tombstone = { ...deletionOf(run), reason: "deleted", atMs: 0 };
  const store: Store = { ...whole, readTombstone: async (_, runId) => (runId === run.runId ? buried : undefined) };
  const suite = { tasks: [] } as unknown as AgentEvalSuite;
  const ofStore = (one: Store) => gatherGold({ store: one }, { tenant }, { suite, runIds: [run.runId] });

  await expect(ofStore(whole)).rejects.toMatchObject({ code: "validation_error" });
  await expect(ofStore(store)).rejects.toMatchObject({ code: "not_found" });
  expect(await scoreJudgments(whole, run)).toEqual([]);
  await expect(scoreJudgments(store, run)).rejects.toMatchObject({ code: "not_found" });
  await whole.close();
});
