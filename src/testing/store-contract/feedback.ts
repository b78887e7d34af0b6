import { describe, expect, test } from "vitest";
import type { Run } from "../../protocol/runs/run.ts";
import {
  type AnnotationRecord,
  type FeedbackQuery,
  type FeedbackRow,
  NO_FEEDBACK,
} from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import * as build from "../annotation-builders.ts";
import { HOUR, NOW, newTenant, next, runCompleted, runWrite, type StartedRun, startedRun } from "../builders.ts";
import { interruptResolved, openGate } from "../gate-builders.ts";
import { expectRebuilt } from "../rebuilt.ts";
import { accept, type Subject, save } from "./subject.ts";

const { annotate, annotationOf, judging, label, rating, recording, retracting } = build;

export function feedback(subject: Subject): void {
  const summary = (tenant: string, query: FeedbackQuery = {}) => subject.store.feedbackSummary({ tenant }, query);

  describe("a summary of feedback", () => {
    test("of nothing is empty", async () => {
      expect(await summary(newTenant())).toEqual([]);
    });

    test("adds up any number of runs, however many ended in one moment", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const runs = Array.from({ length: 2300 }, (_, i) => {
        const atMs = NOW + (i < 1200 ? 0 : i);
        const workflowId = i % 2 === 0 ? "wf-even" : "wf-odd";
        const begun = startedRun({ tenant, workflowId, atMs });
        const done = next(begun, atMs, runCompleted());
        return { events: [...begun.events, ...done.events], run: done.run };
      });
      await accept(store, { tenant, runs: runs.map((one) => runWrite(one)) });
      await annotate(
        store,
        ...runs.map(({ run }, i) => annotationOf(run, { signal: i % 4 < 2 ? rating(4) : label("tone") })),
      );
      const all = {
        ...NO_FEEDBACK,
        actorKind: "person" as const,
        positiveRuns: 1150,
        judgedRuns: 1150,
        ratedRuns: 1150,
      };
      expect(await summary(tenant)).toEqual([
        {
          ...all,
          runs: 2300,
          annotatedRuns: 2300,
          annotations: 2300,
          histogram: [0, 0, 0, 1150, 0],
          meanRatings: 4600,
          labels: { tone: 1150 },
        },
      ]);
      const figures = async (query: FeedbackQuery) =>
        (await summary(tenant, query)).map(({ key, runs, annotations }) => ({ key, runs, annotations }));
      expect(await figures({ groupBy: "workflow" })).toEqual([
        { key: "wf-even", runs: 1150, annotations: 1150 },
        { key: "wf-odd", runs: 1150, annotations: 1150 },
      ]);
      expect(await figures({ fromMs: NOW + 1, toMs: NOW + 2250 })).toEqual([
        { key: "", runs: 1050, annotations: 1050 },
      ]);
      expect(await figures({ toMs: NOW + 1 })).toEqual([{ key: "", runs: 1200, annotations: 1200 }]);
    });

    test("counts what people said of runs that have ended", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [one, two, silent] = [
        await ended(store, { tenant }),
        await ended(store, { tenant }),
        await ended(store, { tenant }),
      ];
      await annotate(
        store,
        annotationOf(one, { signal: rating(5) }),
        annotationOf(one, { signal: rating(2) }),
        annotationOf(one, { signal: { kind: "correction", correction: "x" } }),
        annotationOf(two, { signal: build.FLAG }),
        annotationOf(two, { signal: label("pass") }),
        annotationOf(two, { signal: label("tone") }),
        annotationOf(two, { signal: label("tone") }),
      );
      expect(silent.status).toBe("completed");
      expect(await summary(tenant)).toEqual([
        {
          ...NO_FEEDBACK,
          runs: 3,
          annotatedRuns: 2,
          annotations: 7,
          histogram: [0, 1, 0, 0, 1],
          ratedRuns: 1,
          meanRatings: 3.5,
          corrections: 1,
          correctedRuns: 1,
          flags: 1,
          flaggedRuns: 1,
          judgedRuns: 2,
          positiveRuns: 1,
          labels: { pass: 1, tone: 2 },
        },
      ]);
    });

    test("shows people, agents and checks apart", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const run = await ended(store, { tenant });
      await annotate(
        store,
        annotationOf(run, { signal: rating(1) }),
        annotationOf(run, { signal: rating(5), actorKind: "agent", confidence: 0.5 }),
        annotationOf(run, { signal: label("fail"), actorKind: "code" }),
      );
      const rows = await summary(tenant);
      expect(
        rows.map(({ actorKind, runs, annotations, histogram, judgedRuns, positiveRuns }) => [
          actorKind,
          runs,
          annotations,
          histogram.indexOf(1),
          judgedRuns,
          positiveRuns,
        ]),
      ).toEqual([
        ["agent", 1, 1, 4, 1, 1],
        ["code", 1, 1, -1, 1, 0],
        ["person", 1, 1, 0, 1, 0],
      ]);
    });

    test("weighs every run alike, however often it was rated", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [often, once] = [await ended(store, { tenant }), await ended(store, { tenant })];
      const said = [1, 1, 1, 2].map((stars, n) =>
        annotationOf(often, { signal: rating(stars), aboutNode: `n${n % 2}` }),
      );
      await annotate(store, ...said, annotationOf(once, { signal: rating(5) }));
      const [row] = await summary(tenant);
      expect(row).toMatchObject({ ratedRuns: 2, meanRatings: 1.25 + 5, histogram: [3, 1, 0, 0, 1] });
      expect(row).toMatchObject({ judgedRuns: 2, positiveRuns: 1, annotatedRuns: 2 });
    });

    test.each<[string, readonly number[], boolean]>([
      ["more than half are four or five", [4, 5, 1], true],
      ["half is not more than half", [4, 1], false],
      ["three is neither", [3], false],
    ])("calls a run positive when %s", async (_, stars, positive) => {
      const { store } = subject;
      const tenant = newTenant();
      const run = await ended(store, { tenant });
      await annotate(store, ...stars.map((n) => annotationOf(run, { signal: rating(n) })));
      expect(await summary(tenant)).toMatchObject([{ judgedRuns: 1, positiveRuns: positive ? 1 : 0 }]);
    });

    test("forgets what was superseded or retracted, and a closed flag is a flag", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const run = await ended(store, { tenant });
      const first = annotationOf(run, { signal: rating(1), aboutNode: "draft" });
      const second = annotationOf(run, { signal: label("tone"), aboutNode: "other" });
      const third = annotationOf(run, { signal: label("tone") });
      const flag = annotationOf(run, { signal: build.FLAG });
      await annotate(store, first, flag, third);
      await accept(store, judging(tenant, recording(second, first)));
      await accept(store, judging(tenant, retracting(third)));
      await accept(store, judging(tenant, build.closing(flag)));
      const counted = { annotations: 2, histogram: [0, 0, 0, 0, 0], ratedRuns: 0, flags: 1, labels: { tone: 1 } };
      expect(await summary(tenant)).toMatchObject([counted]);
      await expectRebuilt(store, run.runId);

      const late = { ...second, supersedes: first.annotationId };
      await accept(store, judging(tenant, retracting(late), retracting({ ...flag, flag: CLOSED })));
      expect(await summary(tenant)).toEqual([{ ...NO_FEEDBACK, runs: 1 }]);
      await expectRebuilt(store, run.runId);
    });

    test("is of runs when they end, whether the annotation or the end came first", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const begun = startedRun({ tenant });
      await save(store, begun);
      await annotate(store, annotationOf(begun.run));
      expect(await summary(tenant)).toEqual([]);
      await save(store, next(begun, NOW + HOUR, runCompleted()));
      await annotate(store, annotationOf(begun.run));
      expect(await summary(tenant)).toMatchObject([{ runs: 1, annotations: 2 }]);
      expect(await summary(tenant, { fromMs: NOW + HOUR })).toMatchObject([{ runs: 1, annotations: 2 }]);
      expect(await summary(tenant, { toMs: NOW + HOUR })).toEqual([]);
    });

    test("does not count what came from elsewhere about runs that are not here, or not one's own", async () => {
      const { store } = subject;
      const [tenant, other] = [newTenant(), newTenant()];
      const others = await ended(store, { tenant: other });
      const foreign: AnnotationRecord = { ...annotationOf(others), tenant, importedBy: "sam" };
      await accept(store, judging(tenant, build.importing(foreign)));
      expect(await summary(tenant)).toEqual([]);
      expect(await summary(other)).toEqual([{ ...NO_FEEDBACK, runs: 1 }]);
    });

    test("counts what came from elsewhere about runs that are here, if it stands", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const run = await ended(store, { tenant });
      const live = annotationOf(run, { signal: rating(3), importedBy: "sam" });
      const gone = annotationOf(run, { state: "superseded", supersededBy: live.annotationId, importedBy: "sam" });
      await accept(store, judging(tenant, build.importing(live), build.importing(gone)));
      expect(await summary(tenant)).toMatchObject([{ annotations: 1, histogram: [0, 0, 1, 0, 0] }]);
      const retraction = { by: "kim", atMs: NOW, reason: "no" };
      await accept(store, judging(tenant, build.importing({ ...live, state: "retracted", retraction }, live)));
      expect(await summary(tenant)).toEqual([{ ...NO_FEEDBACK, runs: 1 }]);
      await expectRebuilt(store, run.runId);
    });

    test("says in how many runs a person decided something", async () => {
      const { store } = subject;
      const tenant = newTenant();
      await ended(store, { tenant });
      for (const resolvedByKind of ["user", "agent"] as const) {
        const open = openGate({ tenant }, { kind: "clarification" });
        await save(store, open);
        const by = { resolvedBy: "kim", resolvedByKind };
        const resolved = interruptResolved(open.interruptId, "answered", by);
        await save(store, next(open, NOW + 1, resolved, runCompleted()));
        await expectRebuilt(store, open.run.runId);
      }
      expect(await summary(tenant)).toEqual([{ ...NO_FEEDBACK, runs: 3, intervened: 1 }]);
    });

    test("is of one's own workspace", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const run = await ended(store, { tenant, workspace: "w1" });
      await ended(store, { tenant, workspace: "w2" });
      await annotate(store, annotationOf(run));
      expect(await store.feedbackSummary({ tenant, workspace: "w1" }, {})).toMatchObject([{ runs: 1, annotations: 1 }]);
      expect(await store.feedbackSummary({ tenant, workspace: "w2" }, {})).toMatchObject([{ runs: 1, annotations: 0 }]);
    });
  });

  describe("a summary of feedback in groups", () => {
    const shown = (rows: readonly FeedbackRow[]) =>
      rows.map(({ key, actorKind, runs, annotatedRuns, annotations, labels }) => [
        key,
        actorKind,
        runs,
        annotatedRuns,
        annotations,
        Object.keys(labels).join(),
      ]);

    async function prepare(store: Store): Promise<string> {
      const tenant = newTenant();
      const day = 24 * HOUR;
      const a1 = await ended(store, { tenant, workflowId: "wf-a", metadata: { agentId: "writer" } });
      const a2 = await ended(store, { tenant, workflowId: "wf-a", atMs: NOW + day });
      const b = await ended(store, { tenant, workflowId: "wf-b", metadata: { agentId: "reader" } });
      await annotate(
        store,
        annotationOf(a1, { signal: label("draft"), aboutNode: "draft" }),
        annotationOf(a1, { signal: label("sent"), aboutNode: "send" }),
        annotationOf(a1, { signal: label("whole") }),
        annotationOf(a2, { signal: label("judged"), aboutNode: "draft", actorKind: "agent" }),
      );
      expect(b.status).toBe("completed");
      return tenant;
    }

    test.each<[string, FeedbackQuery, readonly unknown[]]>([
      [
        "workflow, also those that nobody said anything about",
        { groupBy: "workflow" },
        [
          ["wf-a", "agent", 2, 1, 1, "judged"],
          ["wf-a", "person", 2, 1, 3, "draft,sent,whole"],
          ["wf-b", "person", 1, 0, 0, ""],
        ],
      ],
      [
        "agent, with those of none",
        { groupBy: "agent" },
        [
          ["", "agent", 1, 1, 1, "judged"],
          ["reader", "person", 1, 0, 0, ""],
          ["writer", "person", 1, 1, 3, "draft,sent,whole"],
        ],
      ],
      [
        "node, against all runs of its workflow",
        { groupBy: "node" },
        [
          ["wf-a draft", "agent", 2, 1, 1, "judged"],
          ["wf-a draft", "person", 2, 1, 1, "draft"],
          ["wf-a send", "person", 2, 1, 1, "sent"],
        ],
      ],
      [
        "day on which runs ended",
        { groupBy: "day" },
        [
          ["2027-03-01", "person", 2, 1, 3, "draft,sent,whole"],
          ["2027-03-02", "agent", 1, 1, 1, "judged"],
        ],
      ],
      [
        "workflow, of an agent",
        { groupBy: "workflow", agentId: "writer" },
        [["wf-a", "person", 1, 1, 3, "draft,sent,whole"]],
      ],
      [
        "day, of a workflow and a node",
        { groupBy: "day", workflowId: "wf-a", nodeId: "draft" },
        [
          ["2027-03-01", "person", 1, 1, 1, "draft"],
          ["2027-03-02", "agent", 1, 1, 1, "judged"],
        ],
      ],
    ])("goes by %s", async (_, query, expected) => {
      const { store } = subject;
      const rows = await summary(await prepare(store), query);
      expect(shown(rows.map((row) => ({ ...row, labels: sorted(row.labels) })))).toEqual(expected);
    });
  });
}

const CLOSED = { status: "closed", by: "sam", atMs: NOW + 6, note: "looked into" } as const;

function sorted(labels: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(labels).sort());
}

async function ended(store: Store, start: StartedRun): Promise<Run> {
  const begun = startedRun(start);
  await save(store, begun);
  const done = next(begun, start.atMs ?? NOW, runCompleted());
  await save(store, done);
  return done.run;
}
