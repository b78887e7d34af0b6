import { describe, expect, test } from "vitest";
import type { AnnotationQuery, AnnotationRecord } from "../../store/port/judgments.ts";
import * as build from "../annotation-builders.ts";
import { NOW, newTenant, startedRun } from "../builders.ts";
import { accept, type Subject, save, upTo } from "./subject.ts";

const { annotate, annotationOf, judging, retracting } = build;

export function annotationLists(subject: Subject): void {
  describe("a list of annotations", () => {
    test("pages in both directions, equals by id", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const all = upTo(7).map((n) => annotationOf(run, { createdAtMs: NOW + Math.floor(n / 3) }));
      await annotate(store, ...all);
      const sorted = all.toSorted(byPlace);
      for (const order of ["oldest", "newest"] as const) {
        const expected = order === "oldest" ? sorted : sorted.toReversed();
        const found: AnnotationRecord[] = [];
        for (let page = await store.listAnnotations({ tenant }, { limit: 3, order }); page.length > 0; ) {
          found.push(...page);
          page = await store.listAnnotations({ tenant }, { limit: 3, order, after: found.at(-1) as AnnotationRecord });
        }
        expect(found).toEqual(expected);
      }
    });

    test.each<[string, Partial<AnnotationQuery>, readonly string[]]>([
      ["everything", {}, ["rated", "labelled", "corrected", "flagged", "closed", "gone"]],
      ["a workflow", { workflowId: "wf-other" }, ["labelled"]],
      ["an agent", { agentId: "writer" }, ["rated", "labelled"]],
      ["a node", { nodeId: "draft" }, ["corrected"]],
      ["a kind", { kind: "flag" }, ["flagged", "closed", "gone"]],
      ["a label, of labels only", { label: "tone" }, ["labelled"]],
      ["an actor", { actor: "judge" }, ["rated"]],
      ["a kind of actor", { actorKind: "person" }, ["labelled", "corrected", "flagged", "closed", "gone"]],
      ["a state", { state: "retracted" }, ["gone"]],
      ["open flags that are live", { flag: "open" }, ["flagged"]],
      ["closed flags", { flag: "closed" }, ["closed"]],
      ["ratings up to one", { ratingMax: 2 }, ["rated"]],
      ["no rating that low", { ratingMax: 1 }, []],
      ["a time", { fromMs: NOW + 1, toMs: NOW + 3 }, ["labelled", "corrected"]],
      ["several at once", { agentId: "writer", kind: "label", actorKind: "person" }, ["labelled"]],
      ["what nobody said", { agentId: "writer", kind: "flag" }, []],
    ])("holds those of %s", async (_, query, names) => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const flag = { signal: build.FLAG };
      await annotate(
        store,
        annotationOf(run, {
          note: "rated",
          agentId: "writer",
          signal: build.rating(2),
          actor: "judge",
          actorKind: "agent",
        }),
        annotationOf(run, {
          note: "labelled",
          agentId: "writer",
          workflowId: "wf-other",
          signal: build.label("tone"),
          createdAtMs: NOW + 1,
        }),
        annotationOf(run, {
          note: "corrected",
          target: { eventId: "evt-1" },
          aboutNode: "draft",
          signal: { kind: "correction", correction: "x", label: "tone", rating: 1 },
          createdAtMs: NOW + 2,
        }),
        annotationOf(run, { note: "flagged", ...flag, createdAtMs: NOW + 3 }),
        annotationOf(run, { note: "closed", ...flag, createdAtMs: NOW + 4 }),
        annotationOf(run, { note: "gone", ...flag, createdAtMs: NOW + 5 }),
      );
      const byNote = await store.listAnnotations({ tenant }, { limit: 9, order: "oldest" });
      const [closed, gone] = byNote.slice(4) as [AnnotationRecord, AnnotationRecord];
      await accept(store, judging(tenant, build.closing(closed), retracting(gone)));
      const found = await store.listAnnotations({ tenant }, { limit: 9, order: "oldest", ...query });
      expect(found.map(({ note }) => note)).toEqual(names);
    });

    test("pages by size where its annotations are large, of one agent and of several", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const agents = [{ agentId: "writer" }, { agentId: "writer", otherAgents: ["judge"] }];
      const large = { note: build.LARGE_NOTE };
      const all = upTo(8).map((n) =>
        annotationOf(run, { createdAtMs: NOW + n, ...agents[n % 2], ...(n < 6 ? large : {}) }),
      );
      await annotate(store, ...all);
      for (const query of [{}, { agentId: "writer" }]) {
        const sizes: number[] = [];
        const found: AnnotationRecord[] = [];
        for (let more = true; more; ) {
          const after = found.at(-1);
          const page = await store.listAnnotations(
            { tenant },
            { limit: 9, order: "oldest", ...query, ...(after && { after }) },
          );
          found.push(...page);
          sizes.push(page.length);
          more = page.cut === true;
        }
        expect(found).toEqual(all);
        expect(sizes.length).toBeGreaterThan(1);
        expect(Math.max(...sizes)).toBeLessThan(7);
      }
      const [first] = await store.listAnnotations({ tenant }, { limit: 1, order: "newest" });
      expect(first).toEqual(all[7]);
    });

    test("is of one run where that is asked for", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const other = startedRun({ tenant });
      await save(store, other);
      const [one, two] = [annotationOf(run), annotationOf(other.run)];
      await annotate(store, one, two);
      const query = { limit: 9, order: "oldest" } as const;
      expect(await store.listAnnotations({ tenant }, { ...query, runId: run.runId })).toEqual([one]);
    });
  });
}

function byPlace(a: AnnotationRecord, b: AnnotationRecord): number {
  return a.createdAtMs - b.createdAtMs || (a.annotationId < b.annotationId ? -1 : 1);
}

async function started({ store }: Subject) {
  const tenant = newTenant();
  const begun = startedRun({ tenant });
  await save(store, begun);
  return { tenant, run: begun.run };
}
