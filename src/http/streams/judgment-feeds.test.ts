import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Host } from "../../engine/host.ts";
import { annotate } from "../../engine/judgments/annotate.ts";
import { retract } from "../../engine/judgments/change-annotation.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { AnnotationRecord, ChangePlace } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { annotationOf, judging, recording } from "../../testing/annotation-builders.ts";
import { ADA, begin, engineOn, register } from "../../testing/engine.ts";
import { FakeResponse } from "../../testing/fake-response.ts";
import { judged, newItem, newQueue } from "../../testing/queue-builders.ts";
import { randomOf } from "../../testing/stream-host.ts";
import { workflow } from "../../testing/workflow.ts";
import { JudgmentFeeds } from "./judgment-feeds.ts";
import { STREAM_DEFAULTS, StreamRoom, type StreamSettings } from "./stream-room.ts";

const START: ChangePlace = { seq: 0, n: 0 };
const SETTINGS: StreamSettings = { ...STREAM_DEFAULTS, bufferedBytesMax: 512, rereadMs: 3_600_000 };

let store: Store;
let host: Host;
let run: Run;
let feeds: JudgmentFeeds;
const reported: unknown[] = [];
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  host = engineOn(store);
  await register(host, workflow({ id: "noop", nodes: { a: "core.noop" } }));
  const runId = await begin(host, { workflowId: "noop" });
  run = (await store.readRun({ tenant: ADA.tenant }, runId)) as Run;
});
afterEach(async () => {
  feeds.closeAll();
  await store.close();
  expect(reported.splice(0)).toEqual([]);
});

function feedsOn(over: Partial<Store>, settings: Partial<StreamSettings> = {}): StreamRoom {
  const room = new StreamRoom(SETTINGS);
  const report = (error: unknown) => void reported.push(error);
  const all = { settings: { ...SETTINGS, ...settings }, room, report };
  feeds = new JudgmentFeeds({ ...host, store: { ...host.store, ...over } }, all);
  return room;
}

function rate(note = "a note of some length", caller: Caller = ADA): Promise<AnnotationRecord> {
  const request = { signal: { kind: "rating", rating: 3 }, note } as const;
  return annotate(host, { caller, run, request, record: () => undefined });
}

/** A reader that takes what waits when the test says so. */
class Reader {
  readonly response = new FakeResponse();

  constructor(place = START, caller: Caller = ADA) {
    feeds.open({ caller, wanted: {}, place, response: this.response as unknown as ServerResponse });
  }

  /** Names of the changes, as `history` has them. */
  get ids(): string[] {
    const frames = this.response.text.matchAll(/^id: at-.*\nevent: annotation\.(\w+)\ndata: (.*)\n/gm);
    return [...frames].map(([, change = "", data = ""]) => nameOf(change, JSON.parse(data).annotationId));
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      this.response.takeAll();
      await sleep(1);
    }
  }
}

async function history(): Promise<string[]> {
  const changes = await store.annotationChanges(ADA.tenant, START, 1000);
  return changes.map(({ change, annotation }) => nameOf(change, annotation.annotationId));
}

function nameOf(change: string, id: string): string {
  return change === "recorded" ? id : `${id}.${change}`;
}

describe("readers that take what waits at any time", () => {
  test.each(["a", "b", "c", "d"])("are told the whole history in order, each from its place (%s)", async (seed) => {
    const random = randomOf(seed);
    const room = feedsOn({});
    const readers: { reader: Reader; place: ChangePlace }[] = [];
    const made: AnnotationRecord[] = [];
    for (let step = 0; step < 200; step++) {
      const what = random(8);
      const some = made[random(Math.max(1, made.length))];
      if (what < 4) made.push(await rate());
      else if (what < 5 && some !== undefined) {
        const change = { caller: ADA, annotationId: some.annotationId, request: { reason: "x" } };
        await retract(host, { ...change, record: () => undefined }).catch(() => {});
      } else if (what < 6 && readers.length < 6) {
        const place = random(2) === 0 ? START : await store.annotationHead(ADA.tenant);
        readers.push({ reader: new Reader(place), place });
      } else for (const { reader } of readers) if (random(2) === 0) reader.response.takeAll();
    }
    readers.push({ reader: new Reader(), place: START });
    const all = await history();
    for (const { reader, place } of readers) {
      const before = (await store.annotationChanges(ADA.tenant, START, 1000)).filter(({ place: { seq, n } }) => {
        return seq < place.seq || (seq === place.seq && n <= place.n);
      }).length;
      await reader.until(() => reader.ids.length >= all.length - before);
      expect(reader.ids).toEqual(all.slice(before));
      // A full buffer and the frame that filled it.
      expect(reader.response.most).toBeLessThan(2048);
    }
    for (const { reader } of readers) reader.response.end();
    expect(room).toMatchObject({ open: 0, tally: { lagging: 0 } });
  });
});

describe("a reader that fell behind", () => {
  test("stays at its place while others are told, and goes on from there", async () => {
    const room = feedsOn({});
    const [slow, quick] = [new Reader(), new Reader()];
    for (let i = 0; i < 5; i++) await rate();
    await quick.until(() => quick.ids.length === 5);
    expect(room.tally.lagging).toBe(1);
    const stuck = slow.ids.length;
    expect(stuck).toBeLessThan(5);
    await rate();
    await quick.until(() => quick.ids.length === 6);
    expect(slow.ids).toHaveLength(stuck);
    await slow.until(() => slow.ids.length === 6);
    expect(slow.ids).toEqual(quick.ids);
    expect(room.tally.lagging).toBe(0);
  });

  test("is told after every page, however long its way is", async () => {
    const made: string[] = [];
    for (let i = 0; i < 250; i++) made.push((await rate("n")).annotationId);
    feedsOn({}, { bufferedBytesMax: 10_000_000 });
    const reader = new Reader();
    await reader.until(() => reader.ids.length === made.length);
    expect(reader.ids).toEqual(made);
  });

  test("does not hold up those who are not", async () => {
    for (let i = 0; i < 300; i++) await rate("n");
    const read: number[] = [];
    feedsOn({
      annotationChanges: (tenant, after, limit) => {
        read.push(after.seq);
        return store.annotationChanges(tenant, after, limit);
      },
    });
    const head = await store.annotationHead(ADA.tenant);
    const [late, present] = [new Reader(), new Reader(head)];
    const { annotationId } = await rate("new");
    await present.until(() => present.ids.includes(annotationId));
    expect(present.ids).toEqual([annotationId]);
    await late.until(() => late.ids.length === 301);
    // One page in turn: the one who is there is read for before the late one has come to the end.
    expect(read.indexOf(head.seq)).toBeLessThan(read.findLastIndex((seq) => seq < head.seq));
  });
});

describe("those who are at the same place", () => {
  test("share a read", async () => {
    let reads = 0;
    feedsOn({
      annotationChanges: (...asked) => {
        reads += 1;
        return store.annotationChanges(...asked);
      },
    });
    const readers = Array.from({ length: 20 }, () => new Reader());
    await rate();
    for (const reader of readers) await reader.until(() => reader.ids.length === 1);
    expect(reads).toBeLessThan(8);
  });
});

describe("a database that is away", () => {
  test("is asked again from the same place", async () => {
    let failures = 0;
    const annotationChanges: Store["annotationChanges"] = async (...asked) => {
      if (failures++ < 3) throw new AppError("unavailable", { reason: "gone fishing" });
      return store.annotationChanges(...asked);
    };
    feedsOn({ annotationChanges }, { rereadMs: 5 });
    const reader = new Reader();
    await rate();
    await reader.until(() => reader.ids.length === 1);
    expect(failures).toBeGreaterThan(3);
  });

  test("ends the streams and is reported when the trouble is our own", async () => {
    feedsOn({ annotationChanges: () => Promise.reject(new Error("a bug")) });
    const reader = new Reader();
    await new Promise((resolve) => reader.response.once("close", resolve));
    expect(reported.splice(0)).toMatchObject([{ message: "a bug" }]);
  });
});

describe("a change that comes while the store is read", () => {
  test("is read after that", async () => {
    let interrupted = false;
    const annotationChanges: Store["annotationChanges"] = async (...asked) => {
      const changes = await store.annotationChanges(...asked);
      if (!interrupted) {
        interrupted = true;
        await rate("too late for this read");
      }
      return changes;
    };
    feedsOn({ annotationChanges });
    const reader = new Reader();
    await reader.until(() => reader.ids.length === 1);
  });
});

describe("a change that nobody told of", () => {
  test("is found all the same", async () => {
    feedsOn({ onChange: () => () => {} }, { rereadMs: 5 });
    const reader = new Reader();
    await rate();
    await reader.until(() => reader.ids.length === 1);
  });
});

describe("a blind queue", () => {
  test("keeps from its reviewers what others said, until it needs no more; not from its author or who looks after it", async () => {
    feedsOn({});
    const reviewer = (principal: string): Caller => ({ ...ADA, principal, roles: ["reviewer"], keyId: principal });
    const queue = newQueue(ADA.tenant, { blind: true });
    const item = newItem(queue, run.runId, { required: 2 });
    const queues = [{ type: "queue", queue } as const, { type: "item", item } as const];
    const { tenant, principal, roles } = ADA;
    expect(await store.commit({ tenant, queues, roles: [{ tenant, principal, roles }] })).toMatchObject({ ok: true });
    const secret = annotationOf(run, { actor: "bea", queueItemId: item.itemId, createdAtMs: host.nowMs() });
    expect(await store.commit(judging(ADA.tenant, recording(secret)))).toMatchObject({ ok: true });
    const after = (await rate("afterwards", reviewer("bea"))).annotationId;
    const told = async (caller: Caller, last = after) => {
      const reader = new Reader(START, caller);
      await reader.until(() => reader.ids.includes(last));
      return reader.ids.filter((id) => id === secret.annotationId).length;
    };
    const all = [reviewer("rob"), reviewer("bea"), ADA];
    for (const [i, times] of [0, 1, 1].entries()) expect(await told(all[i] as Caller)).toBe(times);
    const live = all.map((caller) => new Reader(START, caller));
    for (const reader of live) await reader.until(() => reader.ids.includes(after));
    const judgedBy = { ...item, revision: 2, reviews: [judged("rob")] };
    const done = { ...judgedBy, revision: 3, state: "done" } as const;
    expect(await store.commit({ tenant: ADA.tenant, queues: [{ type: "item", item: judgedBy }] })).toMatchObject({
      ok: true,
    });
    expect(await told(reviewer("rob"))).toBe(0);
    const shown = judging(ADA.tenant, { type: "show", earlier: secret });
    expect(await store.commit({ ...shown, queues: [{ type: "item", item: done }] })).toMatchObject({ ok: true });
    const end = (await rate("at the end")).annotationId;
    for (const caller of all) expect(await told(caller, end)).toBe(1);
    for (const reader of live) {
      await reader.until(() => reader.ids.includes(end));
      expect(reader.ids.filter((id) => id === secret.annotationId)).toHaveLength(1);
    }
  });
});

test("many who are each at a place of their own leave room for other work", async () => {
  for (let i = 0; i < 40; i++) await rate();
  let reads = 0;
  const annotationChanges: Store["annotationChanges"] = async (...asked) => {
    reads += 1;
    return store.annotationChanges(...asked);
  };
  feedsOn({ annotationChanges }, { bufferedBytesMax: 1_000_000 });
  const readers = Array.from({ length: 30 }, (_, i) => new Reader({ seq: i + 1, n: 0 }));
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(reads).toBeLessThan(10);
  for (const reader of readers) await reader.until(() => reader.ids.length > 0);
});
