import { join } from "node:path";
import { expect, test } from "vitest";
import { annotate, annotationOf, label } from "../../testing/annotation-builders.ts";
import { next, runCompleted, runWrite, startedRun } from "../../testing/builders.ts";
import { accept } from "../../testing/store-contract/subject.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { turnsOfOthers } from "../../testing/turns.ts";
import type { FeedbackQuery } from "../port/judgments.ts";
import { kyselyOver } from "../sqlite/kysely-dialect.ts";
import { openForReading } from "../sqlite/open-database.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";
import { feedbackSummary } from "./feedback-summary.ts";

const LABELS = 4500;

test("labels of SQLite are the same counted at once and run by run, and others have their turn in between", async () => {
  const path = join(tempDir(), "assay.db");
  const store = await openSqliteStore({ path });
  const runs = ["wf-a", "wf-b"].map((workflowId) => {
    const begun = startedRun({ tenant: "t", workflowId });
    const done = next(begun, Date.parse(begun.run.updatedAt), runCompleted());
    return { events: [...begun.events, ...done.events], run: done.run };
  });
  await accept(store, { tenant: "t", runs: runs.map((one) => runWrite(one)) });
  const said = runs.flatMap(({ run }) =>
    Array.from({ length: LABELS }, (_, i) =>
      annotationOf(run, { signal: label(`l${i}`), ...(i % 3 === 0 ? { aboutNode: `n${i % 2}` } : {}) }),
    ),
  );
  await annotate(store, ...said);
  const handle = await openForReading(path);
  const db = kyselyOver(handle);
  const queries: FeedbackQuery[] = [
    {},
    { groupBy: "workflow" },
    { groupBy: "node" },
    { groupBy: "day" },
    { nodeId: "n1" },
  ];
  for (const query of queries) {
    const atOnce = await feedbackSummary(db, { tenant: "t" }, query);
    const turns = turnsOfOthers();
    expect(await feedbackSummary(db, { tenant: "t" }, query, 100)).toEqual(atOnce);
    if (query.nodeId === undefined) expect(turns()).toBeGreaterThan(1);
  }
  handle.close();
  await store.close();
}, 60_000);
