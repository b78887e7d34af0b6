import { describe, expect, test } from "vitest";
import { NOW } from "../../testing/builders.ts";
import { queryPlans } from "../../testing/query-plans.ts";
import type { AnnotationQuery } from "../port/judgments.ts";
import { ANNOTATIONS_OF_RUN } from "./hot-reads.ts";
import { RUN_DELETES } from "./statements.ts";

const { planOf, planOfText } = queryPlans();

const visible = { tenant: "t", workspace: "w" };
const after = { createdAtMs: NOW, annotationId: "ann-1" };

describe("a database with many annotations", () => {
  test.each<[Partial<AnnotationQuery>, string]>([
    [{}, "annotations_by_workspace"],
    [{ actorKind: "agent" }, "annotations_by_workspace"],
    [{ runId: "r" }, "annotations_by_run"],
    [{ workflowId: "w" }, "annotations_by_workflow"],
    [{ agentId: "a" }, "annotations_by_agent"],
    [{ nodeId: "n" }, "annotations_by_node"],
    [{ kind: "flag" }, "annotations_by_workspace"],
    [{ label: "l" }, "annotations_by_label"],
    [{ actor: "a" }, "annotations_by_actor"],
    [{ flag: "open" }, "annotations_flagged"],
    [{ flag: "closed" }, "annotations_flagged"],
    [{ state: "retracted" }, "annotations_gone"],
    [{ ratingMax: 2 }, "annotations_by_workspace"],
  ])("lists those with %j by walking along an index, in order", async (query, index) => {
    for (const order of ["oldest", "newest"] as const) {
      const plan = await planOf((store) => store.listAnnotations(visible, { limit: 9, order, after, ...query }));
      expect(plan).toContain(`USING INDEX ${index} `);
      expect(plan).toContain("created_at");
      expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
    }
  });

  test.each<[Partial<AnnotationQuery>, string]>([
    [{}, "annotations_by_time"],
    [{ kind: "flag" }, "annotations_by_kind"],
    [{ ratingMax: 2 }, "annotations_by_kind"],
  ])("lists those of a whole tenant with %j in the same way", async (query, index) => {
    const asked = { limit: 9, order: "newest", after, ...query } as const;
    const plan = await planOf((store) => store.listAnnotations({ tenant: "t" }, asked));
    expect(plan).toContain(`USING INDEX ${index} `);
    expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
  });

  test("reads those of a run, and the history, from where the last page ended", async () => {
    const ofRun = planOfText(ANNOTATIONS_OF_RUN);
    expect(ofRun).toContain("annotations_by_run");
    const changes = await planOf((store) => store.annotationChanges("t", { seq: 3, n: 1 }, 9));
    expect(changes).toContain("(tenant=? AND (seq,n)>(?,?))");
    const behind = await planOf((store) => store.tenantsBehind("otel"));
    expect(behind).toContain("(tenant=? AND (seq,n)>(?,?))");
    for (const plan of [ofRun, changes]) expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
  });

  test("is summed up along the runs that ended, without reading one of them", async () => {
    const plan = await planOf((store) => store.feedbackSummary(visible, { fromMs: NOW, groupBy: "workflow" }));
    expect(plan).toContain("COVERING INDEX runs_ended (tenant=? AND updated_at>?)");
    expect(plan).toMatch(/SEARCH tally USING PRIMARY KEY \(tenant=\? AND run_id=\?/);
    // The labels that were found are counted, up to a limit.
    expect(plan).not.toMatch(/SCAN (?!labels$)/m);
  });

  test.each(Object.entries(RUN_DELETES))("lets a run go without looking at others: %s", (_, sql) => {
    expect(planOfText(sql)).not.toMatch(/SCAN (?!CONSTANT|named$)|\(tenant=\?\)$/m);
  });

  test("looks through what a queue answered once for a run, however many items of it the queue has", () => {
    const steps = planOfText(RUN_DELETES.deleteOutcomesOfItems).split("\n");
    const distinct = steps.findIndex((step) => step.includes("FOR DISTINCT"));
    expect(distinct).toBeGreaterThan(0);
    expect(steps.findIndex((step) => step.startsWith("SEARCH outcome"))).toBeGreaterThan(distinct);
  });
});
