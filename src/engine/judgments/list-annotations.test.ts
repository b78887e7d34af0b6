import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { annotationOf, FLAG, judging, recording } from "../../testing/annotation-builders.ts";
import { ADA, begin, engineOn, register } from "../../testing/engine.ts";
import { judged, newItem, newQueue } from "../../testing/queue-builders.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { cursorAt, listJudgments, placeOf, readFlagged } from "./list-annotations.ts";

let store: Store;
let host: Host;
let run: Run;
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  host = engineOn(store);
  await register(host, workflow({ id: "noop", nodes: { a: "core.noop" } }));
  const runId = await begin(host, { workflowId: "noop" });
  run = (await store.readRun({ tenant: ADA.tenant }, runId)) as Run;
});
afterEach(() => store.close());

async function record(...annotations: readonly AnnotationRecord[]): Promise<void> {
  for (const one of annotations) {
    expect(await store.commit(judging(ADA.tenant, recording(one)))).toMatchObject({ ok: true });
  }
}

async function ids(caller: Caller, query = {}): Promise<string[]> {
  const { annotations } = await listJudgments(host, caller, { order: "oldest", ...query });
  return annotations.map(({ annotationId }) => annotationId);
}

describe("what others said about an item of a blind queue", () => {
  const reviewer = (principal: string): Caller => ({ ...ADA, principal, roles: ["reviewer"], keyId: principal });

  test("is kept from whoever has yet to judge it, in lists and among flags; not from who looks after queues", async () => {
    const queue = newQueue(ADA.tenant, { blind: true });
    const item = newItem(queue, run.runId, { required: 2 });
    const queues = [{ type: "queue", queue } as const, { type: "item", item } as const];
    expect(await store.commit({ tenant: ADA.tenant, queues })).toMatchObject({ ok: true });
    const secret = annotationOf(run, { actor: "bea", queueItemId: item.itemId, signal: FLAG });
    const open = annotationOf(run, { actor: "bea", signal: FLAG, createdAtMs: secret.createdAtMs + 1 });
    await record(secret, open);
    const both = [secret.annotationId, open.annotationId];
    const flags = async (caller: Caller) => {
      const { flagged = [] } = await readFlagged(host, caller, {});
      return flagged.map(({ annotationId }) => annotationId);
    };
    for (const seen of [ids, flags]) {
      expect(await seen(reviewer("rob"))).toEqual([open.annotationId]);
      expect(await seen(reviewer("bea"))).toEqual(both);
      expect(await seen({ ...reviewer("adm"), roles: ["admin"] })).toEqual(both);
      expect(await seen({ ...reviewer("own"), roles: ["owner"] })).toEqual(both);
    }
    const done = { ...item, revision: 2, reviews: [judged("rob")] };
    await store.commit({ tenant: ADA.tenant, queues: [{ type: "item", item: done }] });
    expect(await ids(reviewer("rob"))).toEqual(both);
  });
});

describe("a page", () => {
  test("goes on after the last one also where many have the same time", async () => {
    const made = Array.from({ length: 7 }, () => annotationOf(run));
    await record(...made);
    const found: string[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await listJudgments(host, ADA, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      found.push(...page.annotations.map(({ annotationId }) => annotationId));
      cursor = page.nextCursor;
    }
    expect(found).toEqual(
      made
        .map(({ annotationId }) => annotationId)
        .sort()
        .reverse(),
    );
  });

  test("ends when what it was to go on with is gone by then", async () => {
    const made = Array.from({ length: 150 }, (_, i) => annotationOf(run, { createdAtMs: i }));
    await record(...made);
    let reads = 0;
    const vanishing: Store["listAnnotations"] = (visible, query) => {
      reads += 1;
      return reads > 1 ? Promise.resolve([]) : store.listAnnotations(visible, query);
    };
    const page = await listJudgments({ ...host, store: { ...store, listAnnotations: vanishing } }, ADA, { limit: 200 });
    expect(page.annotations).toHaveLength(100);
    expect(page.nextCursor).toBeUndefined();
  });

  test("is empty, and the store is not asked, when the filter contradicts itself", async () => {
    const listAnnotations = () => Promise.reject(new Error("asked"));
    const deaf = { ...host, store: { ...store, listAnnotations } };
    expect(await listJudgments(deaf, ADA, { signal: "rating", label: "pass" })).toEqual({ annotations: [] });
  });
});

const PLACE = { createdAtMs: 1_800_000_000_000, annotationId: "ann-01k4zzzzzzzzzzzzzzzzzzzzzz" };

test("a cursor gives back the place it was made of", () => {
  expect(placeOf(cursorAt(PLACE))).toEqual(PLACE);
  expect(cursorAt(PLACE)).toMatch(/^[\w-]+$/);
});

test("an id from elsewhere makes a cursor like any other", () => {
  const place = { createdAtMs: 0, annotationId: "naïve id / 7" };
  expect(placeOf(cursorAt(place))).toEqual(place);
});

test.each([
  "x",
  "ann-01k4zzzzzzzzzzzzzzzzzzzzzz",
  Buffer.from("soon ann-1").toString("base64url"),
  Buffer.from("12").toString("base64url"),
  Buffer.from("-1 ann-1").toString("base64url"),
  Buffer.from("007 ann-1").toString("base64url"),
  `${cursorAt(PLACE)}=`,
  `${cursorAt(PLACE)} `,
  cursorAt(PLACE).slice(1),
])("%j is no cursor", (text) => {
  expect(() => placeOf(text)).toThrow(/cursor is not one this host gave out/);
});
