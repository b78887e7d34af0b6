import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Run } from "../../../src/protocol/runs/run.ts";
import type { AnnotationRecord } from "../../../src/store/port/judgments.ts";
import { annotate, annotationOf, importing, judging } from "../../../src/testing/annotation-builders.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { NOW } from "../../../src/testing/builders.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";
import { JudgmentClient, JudgmentFollower } from "../../../src/testing/judgment-client.ts";

const TENANT = "t1";

describe.each(HTTP_STORES)("a follower of judgments on %s that resumes", (_, open) => {
  let host: TestHost;
  let client: JudgmentClient;
  let drop: () => Promise<void>;
  let url: string;
  let run: Run;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true, streams: { rereadMs: 3_600_000 } });
    client = new JudgmentClient(host);
    url = await host.listen();
  });
  beforeEach(async () => {
    run = await ended();
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const ended = async () => (await host.store.readRun({ tenant: TENANT }, await client.ended())) as Run;
  const follow = (after?: string) => JudgmentFollower.open(url, after === undefined ? {} : { after });

  /** What follows after this id, up to one more judgment. */
  async function namesAfter(id: string | undefined): Promise<string[]> {
    const resumed = await follow(id);
    const last = await client.rate(run.runId, 1);
    await resumed.untilTold(last.annotationId);
    resumed.disconnect();
    return resumed.names.slice(0, resumed.names.indexOf(last.annotationId));
  }

  test("after a judgment that was deleted gets what another host made before it and committed after it", async () => {
    const doomed = await ended();
    const live = await (await follow()).untilOpen();
    const gone = annotationOf(doomed, { createdAtMs: NOW + 20 });
    // A host that stood still between its decision and its commit, or whose clock is behind.
    const late = annotationOf(run, { createdAtMs: NOW + 10 });
    const next = annotationOf(run, { createdAtMs: NOW + 30 });
    for (const one of [gone, late, next]) await annotate(host.store, one);
    await live.untilTold(next.annotationId);
    const { runId, workflowId, version } = doomed;
    const deletion = { runId, tenant: TENANT, workflowId, version, reason: "deleted", atMs: 1 } as const;
    expect(await host.store.commit({ tenant: TENANT, deletions: [deletion] })).toMatchObject({ ok: true });
    const id = live.told.find(({ name }) => name === gone.annotationId)?.id;
    expect(await namesAfter(id)).toEqual([late.annotationId, next.annotationId]);
    live.disconnect();
  });

  test("after a change that was imported once more since gets everything in between", async () => {
    const live = await (await follow()).untilOpen();
    const first: AnnotationRecord = annotationOf(run, { importedBy: "sam" });
    const over: AnnotationRecord = { ...first, state: "retracted", retraction: { by: "kim", atMs: NOW, reason: "no" } };
    const between = annotationOf(run);
    const put = (after: AnnotationRecord, before?: AnnotationRecord) =>
      host.store.commit(judging(TENANT, importing(after, before)));
    await put(first);
    await put(over, first);
    await annotate(host.store, between);
    await live.untilTold(between.annotationId);
    const id = live.told.find(({ event }) => event === "annotation.retracted")?.id;
    await put(first, over);
    await put(over, first);
    const again = `${first.annotationId}.retracted`;
    expect(await namesAfter(id)).toEqual([between.annotationId, again]);
    live.disconnect();
  });

  test("at the beginning gets the whole history, and again after each of its frames", async () => {
    const live = await (await follow("at-0.0")).untilOpen();
    const last = await client.rate(run.runId, 5);
    await live.untilTold(last.annotationId);
    const all = live.names;
    expect(all).toHaveLength((await host.store.annotationChanges(TENANT, { seq: 0, n: 0 }, 999)).length);
    for (const [i, { id }] of live.told.slice(0, all.length).entries()) {
      expect((await namesAfter(id)).slice(0, all.length - i - 1)).toEqual(all.slice(i + 1));
    }
    live.disconnect();
  });
});
