import { describe, expect, test } from "vitest";
import type { AnnotationQuery } from "../../store/port/judgments.ts";
import { annotate, annotationOf, judging, label, retracting } from "../annotation-builders.ts";
import { NOW, newTenant, startedRun } from "../builders.ts";
import { SEARCHES, TEXTS, type TextName } from "../search-texts.ts";
import { accept, type Subject, save, upTo } from "./subject.ts";

export function annotationSearch(subject: Subject): void {
  describe("searching annotations", () => {
    test.each(SEARCHES)("for %j finds the same on every database", async (asked, expected) => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const names = Object.keys(TEXTS) as TextName[];
      await annotate(
        store,
        // Half of them say it in the note, half in the correction.
        ...names.map((name, n) => {
          const said =
            n % 2 === 0 ? { note: TEXTS[name] } : { signal: { kind: "correction", correction: TEXTS[name] } as const };
          return annotationOf(run, { annotationId: name, createdAtMs: NOW + n, ...said });
        }),
      );
      const found = await store.listAnnotations({ tenant }, { limit: 99, order: "oldest", words: asked.split(" ") });
      expect(found.map(({ annotationId }) => annotationId)).toEqual(expected);
      const whole = await store.listAnnotations({ tenant }, { limit: 99, order: "oldest", words: [asked] });
      expect(whole.map(({ annotationId }) => annotationId)).toEqual(expected);
    });

    test("looks at note and correction together, and at nothing else", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const both = annotationOf(run, { signal: { kind: "correction", correction: "red" }, note: "blue" });
      await annotate(store, both, annotationOf(run, { signal: label("green"), actor: "green" }));
      const query = { limit: 9, order: "oldest" } as const;
      expect(await store.listAnnotations({ tenant }, { ...query, words: ["red", "blue"] })).toEqual([both]);
      expect(await store.listAnnotations({ tenant }, { ...query, words: ["green"] })).toEqual([]);
    });

    test("goes together with every other condition, order and page", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const all = upTo(6).map((n) =>
        annotationOf(run, {
          note: n === 3 ? "beta" : "alpha",
          actor: n % 2 === 0 ? "pat" : "kim",
          createdAtMs: NOW + n,
        }),
      );
      await annotate(store, ...all);
      const notes = async (query: Partial<AnnotationQuery>) => {
        const page = await store.listAnnotations({ tenant }, { limit: 9, order: "newest", words: ["alp"], ...query });
        return page.map(({ createdAtMs }) => createdAtMs - NOW);
      };
      expect(await notes({})).toEqual([5, 4, 2, 1, 0]);
      expect(await notes({ order: "oldest", limit: 2 })).toEqual([0, 1]);
      expect(await notes({ actor: "kim" })).toEqual([5, 1]);
      expect(await notes({ limit: 2, after: all[4] as AnnotationQuery["after"] & object })).toEqual([2, 1]);
    });

    test("finds what was superseded or retracted as well, in one's own tenant and workspace only", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const annotation = annotationOf(run, { note: "alpha" });
      await annotate(store, annotation);
      await accept(store, judging(tenant, retracting(annotation)));
      const query = { limit: 9, order: "oldest", words: ["alpha"] } as const;
      expect(await store.listAnnotations({ tenant }, query)).toHaveLength(1);
      for (const visible of [{ tenant: newTenant() }, { tenant, workspace: "w" }]) {
        expect(await store.listAnnotations(visible, query)).toEqual([]);
      }
    });

    test("copes with texts of any length, and finds them by their first words", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const words = upTo(40_000).map((n) => `w${n}`);
      const correction = words.join(" ").slice(0, 200_000);
      await annotate(store, annotationOf(run, { signal: { kind: "correction", correction } }));
      const signs = annotationOf(run, {
        note: [...upTo(20_000)].map((n) => String.fromCodePoint(0x4e00 + n)).join(""),
      });
      await annotate(store, signs);
      const query = { limit: 9, order: "oldest" } as const;
      expect(await store.listAnnotations({ tenant }, { ...query, words: ["w0", "w9999"] })).toHaveLength(1);
      expect(await store.listAnnotations({ tenant }, { ...query, words: ["w30000"] })).toEqual([]);
      expect(await store.listAnnotations({ tenant }, { ...query, words: ["\u4e00"] })).toHaveLength(1);
    });
  });
}

async function started({ store }: Subject) {
  const tenant = newTenant();
  const begun = startedRun({ tenant });
  await save(store, begun);
  return { tenant, run: begun.run };
}
