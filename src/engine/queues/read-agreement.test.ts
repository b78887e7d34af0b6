import { expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { newTenant } from "../../testing/builders.ts";
import { ADA, engineOn } from "../../testing/engine.ts";
import { newItem, newQueue } from "../../testing/queue-builders.ts";
import { turnsOfOthers } from "../../testing/turns.ts";
import { workbench } from "../../testing/workbench.ts";
import { newRules } from "./decide/rules.ts";
import { readAgreement } from "./read-agreement.ts";

const bench = workbench();
const PAGES = 20;
const ITEMS = 500;
const REVIEWERS = Array.from({ length: 20 }, (_, place) => `reviewer-${place}`);

test("the judgments of a queue are counted page by page, and other work has its turn while they are", async () => {
  const rules = newRules({ name: "q", judgment: { kind: "rating" }, reviewersRequired: REVIEWERS.length });
  const queue = newQueue(newTenant(), { body: JSON.stringify({ rules }) });
  const item = (place: number) => {
    const reviews = REVIEWERS.map((reviewer, i) => {
      const value = 1 + ((place + i) % 5);
      return { status: "judged", reviewer, atMs: 0, kind: "person", value, annotationIds: [`ann-${place}-${i}`] };
    });
    const body = JSON.stringify({ about: { workflowId: "w" }, round: 1, reviews, past: [] });
    return newItem(queue, "run-1", { state: "done", required: REVIEWERS.length, body });
  };
  const page = Array.from({ length: ITEMS }, (_, place) => item(place));
  const steps: string[] = [];
  let pages = 0;
  const store = {
    ...bench.store,
    readQueue: async () => queue,
    listQueueItems: async () => {
      steps.push("page");
      pages += 1;
      return pages > PAGES ? [] : page;
    },
    liveAnnotations: async (_: string, ids: readonly string[]) => {
      if (steps.at(-1) === "page") steps.push("standing");
      return ids;
    },
  } as object as Store;
  const turns = turnsOfOthers();
  const found = await readAgreement({ ...engineOn(bench.store), store }, ADA, queue.queueId, { include: "agents" });
  expect(turns()).toBeGreaterThanOrEqual(PAGES / 2);
  expect(steps.slice(0, 4)).toEqual(["page", "standing", "page", "standing"]);
  expect(found).toMatchObject({ items: PAGES * ITEMS, complete: true, withdrawn: 0 });
  expect(found.people).toMatchObject({ judgments: PAGES * ITEMS * REVIEWERS.length, morePairs: 0 });
  expect(found.people.cohen).toHaveLength((REVIEWERS.length * (REVIEWERS.length - 1)) / 2);
});
