import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AnnotationChange, ChangePlace } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { annotate, annotationOf } from "../../testing/annotation-builders.ts";
import { newTenant, startedRun } from "../../testing/builders.ts";
import { engineOn } from "../../testing/engine.ts";
import { eventually } from "../../testing/eventually.ts";
import { save } from "../../testing/store-contract/subject.ts";
import { JudgmentFeeds } from "./judgment-feeds.ts";
import { STREAM_DEFAULTS, StreamRoom } from "./stream-room.ts";

let store: Store;
let tenant: string;
let feeds: JudgmentFeeds;
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  tenant = newTenant();
});
afterEach(async () => {
  vi.useRealTimers();
  feeds.closeAll();
  await store.close();
});

/** Feeds whose look-up of the head is answered when the test says so. */
function withSlowHead() {
  let answer: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const annotationHead = async (of: string): Promise<ChangePlace> => {
    const head = await store.annotationHead(of);
    await asked;
    return head;
  };
  const report = (error: unknown) => expect.unreachable(String(error));
  const settings = { ...STREAM_DEFAULTS, rereadMs: 3_600_000 };
  const host = { ...engineOn(store), store: { ...store, annotationHead } };
  feeds = new JudgmentFeeds(host, { settings, room: new StreamRoom(settings), report });
  return { answer };
}

async function judged() {
  const begun = startedRun({ tenant });
  await save(store, begun);
  const annotation = annotationOf(begun.run);
  await annotate(store, annotation);
  return annotation.annotationId;
}

test("a judgment that is recorded while a stream finds its place is told without another notification", async () => {
  const { answer } = withSlowHead();
  const heard: AnnotationChange[] = [];
  const ready = feeds.ready(tenant).then(() => feeds.listen(tenant, (change) => heard.push(change)));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const annotationId = await judged();
  answer();
  const leave = await ready;
  await eventually(() => expect(heard.map(({ annotation }) => annotation.annotationId)).toEqual([annotationId]));
  leave();
});

test("a stream that waits long for its place hears of judgments all the same", async () => {
  const { answer } = withSlowHead();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const heard: AnnotationChange[] = [];
  const ready = feeds.ready(tenant).then(() => feeds.listen(tenant, (change) => heard.push(change)));
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  answer();
  const leave = await ready;
  const annotationId = await judged();
  await eventually(() => expect(heard.map(({ annotation }) => annotation.annotationId)).toEqual([annotationId]));
  leave();
});
