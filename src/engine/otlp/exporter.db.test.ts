import { afterEach, describe, expect, test } from "vitest";
import type { AnnotateRequest } from "../../protocol/judgments/annotation-api.ts";
import type { Store } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { ADA, begin, engineOn, KNOWN_SECRET, register } from "../../testing/engine.ts";
import { type Behaviour, WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { workflow } from "../../testing/workflow.ts";
import { visibleRun } from "../execute.ts";
import type { Host } from "../host.ts";
import { annotate } from "../judgments/annotate.ts";
import { retract } from "../judgments/change-annotation.ts";
import { traceIdOf } from "../runs/run-trace.ts";
import { type ExportSettings, exportJudgments, type JudgmentExport } from "./exporter.ts";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly doubleValue?: number };
}

/** A record as a collector would show it. */
type Shown = Readonly<Record<string, unknown>> & { readonly uid: string };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe.each(BOTH_STORES)("on %s", (_, open) => {
  async function bench() {
    const { store, drop } = await open();
    closing.push(drop, () => store.close());
    const receiver = await WebhookReceiver.start();
    closing.push(() => receiver.close());
    const host = engineOn(store);
    await register(host, workflow({ id: "noop", nodes: { a: "core.noop" } }));
    const runId = await begin(host, { workflowId: "noop" });
    return { store, host, receiver, runId };
  }

  function exporting(host: Host, receiver: WebhookReceiver, more: Partial<ExportSettings> = {}): JudgmentExport {
    const started = exportJudgments(host, {
      url: receiver.url("/v1/logs"),
      headers: { "x-token": "t" },
      content: false,
      source: { service: "assay", version: "0", scope: "assay.judgments" },
      batchMax: 3,
      sweepMs: 20,
      retryFirstMs: 1,
      retryMaxMs: 5,
      chance: () => 0,
      onTrouble: () => {},
      onError: (error) => console.error(error),
      ...more,
    });
    closing.push(() => started.stop());
    return started;
  }

  async function judge(host: Host, runId: string, request: AnnotateRequest, caller = ADA): Promise<string> {
    const run = await visibleRun(host, caller, runId);
    return (await annotate(host, { caller, run, request, record: () => undefined })).annotationId;
  }

  const rating = (n: number): AnnotateRequest => ({ signal: { kind: "rating", rating: n } });

  function shown(bodies: readonly string[]): Shown[] {
    return bodies.flatMap((body) =>
      JSON.parse(body).resourceLogs[0].scopeLogs[0].logRecords.map((record: Record<string, unknown>) => {
        const values = (record["attributes"] as Attribute[]).map(({ key, value }) => [
          key,
          value.stringValue ?? value.doubleValue,
        ]);
        const named = Object.fromEntries(values);
        return { ...record, ...named, uid: named["log.record.uid"], attributes: undefined };
      }),
    );
  }

  async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 20_000;
    while (!(await holds())) {
      if (Date.now() > deadline) throw new Error("it never came true");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  const caughtUp = (store: Store) => until(async () => (await store.tenantsBehind("otlp")).length === 0);
  const takenBy = ({ received }: WebhookReceiver) => shown(received.map(({ body }) => body));

  describe("a judgment", () => {
    test("is exported as the result of an evaluation, in the trace of its run", async () => {
      const { store, host, receiver, runId } = await bench();
      const annotationId = await judge(host, runId, { ...rating(4), target: { nodeId: "a" }, note: "quite good" });
      exporting(host, receiver);
      await caughtUp(store);
      const [request] = receiver.received;
      expect(request).toMatchObject({
        path: "/v1/logs",
        headers: { "content-type": "application/json", "x-token": "t" },
      });
      const [record] = takenBy(receiver);
      expect(record).toMatchObject({
        eventName: "gen_ai.evaluation.result",
        "event.name": "gen_ai.evaluation.result",
        severityNumber: 9,
        traceId: traceIdOf({ runId }),
        timeUnixNano: expect.stringMatching(/^\d{13}000000$/),
        "gen_ai.evaluation.name": "rating",
        "gen_ai.evaluation.score.value": 4,
        "openwop.run_id": runId,
        "openwop.workflow_id": "noop",
        "openwop.node_id": "a",
        "assay.annotation_id": annotationId,
        "assay.actor_kind": "person",
        "assay.tenant": "t1",
      });
    });

    test("leaves what people wrote at home unless it is asked for", async () => {
      const { store, host, receiver, runId } = await bench();
      const words = ["words-of-a-note", "words-of-a-correction", "words-of-a-label"];
      await judge(host, runId, { ...rating(1), note: "words-of-a-note" });
      await judge(host, runId, { signal: { kind: "correction", correction: "words-of-a-correction" } });
      await judge(host, runId, { signal: { kind: "label", label: "words-of-a-label" } });
      await judge(host, runId, { signal: { kind: "label", label: "pass" } });
      await judge(host, runId, { signal: { kind: "flag" } });
      const closed = exporting(host, receiver);
      await caughtUp(store);
      await closed.stop();
      const bodies = receiver.received.map(({ body }) => body).join();
      for (const text of words) expect(bodies).not.toContain(text);
      const label = "gen_ai.evaluation.score.label";
      expect(takenBy(receiver).map((record) => record[label])).toEqual([
        undefined,
        "corrected",
        undefined,
        "pass",
        "flagged",
      ]);

      await store.putCursor("otlp", "t1", { seq: 0, n: 0 });
      receiver.received.length = 0;
      exporting(host, receiver, { content: true });
      await caughtUp(store);
      expect(takenBy(receiver)).toMatchObject([
        { "gen_ai.evaluation.explanation": "words-of-a-note" },
        { "assay.correction": "words-of-a-correction" },
        { [label]: "words-of-a-label" },
        { [label]: "pass" },
        { [label]: "flagged" },
      ]);
    });

    test("that holds what became a secret since is exported without it", async () => {
      const { store, host, receiver, runId } = await bench();
      const none = { scrubText: (text: string) => text, scrubValue: <T>(value: T) => value, holdsKey: () => false };
      const before: Host = { ...host, scrubber: none };
      await judge(before, runId, { ...rating(1), note: `it was ${KNOWN_SECRET}` });
      await judge(before, runId, { signal: { kind: "label", label: KNOWN_SECRET } });
      exporting(host, receiver, { content: true });
      await caughtUp(store);
      expect(receiver.received.map(({ body }) => body).join()).not.toContain(KNOWN_SECRET);
    });

    test("that replaces another names it, and one that is retracted is said to be", async () => {
      const { store, host, receiver, runId } = await bench();
      const first = await judge(host, runId, rating(1));
      const second = await judge(host, runId, { ...rating(5), supersedes: first });
      const asked = { caller: ADA, annotationId: second, request: { reason: "a mistake" }, record: () => undefined };
      await retract(host, asked);
      exporting(host, receiver);
      await caughtUp(store);
      expect(takenBy(receiver).map(({ uid, ...record }) => [uid, record["assay.supersedes"]])).toEqual([
        [`${first}/gen_ai.evaluation.result`, undefined],
        [`${second}/gen_ai.evaluation.result`, first],
        [`${second}/assay.evaluation.retracted`, first],
      ]);
      expect(receiver.received.map(({ body }) => body).join()).not.toContain("a mistake");
    });
  });

  describe("the export", () => {
    test("sends everything once, in order, in batches, for every tenant, over restarts", async () => {
      const { store, host, receiver, runId } = await bench();
      const bob = { ...ADA, tenant: "t2", principal: "bob" };
      await register(host, workflow({ id: "noop", nodes: { a: "core.noop" } }), bob);
      const other = await begin(host, { workflowId: "noop" }, bob);
      const mine: string[] = [];
      const his: string[] = [];
      for (let start = 0; start < 3; start++) {
        for (let i = 0; i < 4; i++) mine.push(await judge(host, runId, rating(1 + i)));
        his.push(await judge(host, other, rating(5), bob));
        const running = exporting(host, receiver);
        mine.push(await judge(host, runId, rating(3)));
        await caughtUp(store);
        await running.stop();
      }
      const told = takenBy(receiver);
      const of = (tenant: string) =>
        told.filter((one) => one["assay.tenant"] === tenant).map((one) => one["assay.annotation_id"]);
      expect(of("t1")).toEqual(mine);
      expect(of("t2")).toEqual(his);
      expect(receiver.received.every(({ body }) => shown([body]).length <= 3)).toBe(true);
    });

    test("leaves a receiver alone for as long as it asks", async () => {
      const { host, receiver, runId } = await bench();
      await judge(host, runId, rating(1));
      receiver.behave((response) => void response.writeHead(429, { "retry-after": "600" }).end());
      exporting(host, receiver);
      await until(() => receiver.received.length > 0);
      await judge(host, runId, rating(2));
      // By its own settings it would have come back a hundred times.
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(receiver.received).toHaveLength(1);
    });

    test("loses nothing while the receiver is away", async () => {
      const { store, host, receiver, runId } = await bench();
      const ids = [await judge(host, runId, rating(1)), await judge(host, runId, rating(2))];
      const behaviours: Behaviour[] = [
        503,
        (response) => response.destroy(),
        401,
        (response) => response.writeHead(429, { "retry-after": "0" }).end(),
      ];
      receiver.behave((response, received) => {
        const next = behaviours.shift() ?? 200;
        if (typeof next === "number") response.writeHead(next).end();
        else next(response, received);
      });
      const reasons: string[] = [];
      const running = exporting(host, receiver, { onTrouble: (reason) => void reasons.push(reason) });
      await caughtUp(store);
      expect(reasons).toHaveLength(4);
      expect(receiver.received).toHaveLength(5);
      expect(shown([receiver.received.at(-1)?.body ?? ""]).map((one) => one["assay.annotation_id"])).toEqual(ids);
      expect(running.stats()).toEqual({ exported: 2, rejected: 0, failures: 4 });
    });

    test("goes on past a judgment that the receiver will never take", async () => {
      const { store, host, receiver, runId } = await bench();
      const ids: string[] = [];
      for (let i = 1; i <= 5; i++) ids.push(await judge(host, runId, rating(i)));
      const [, poison = ""] = ids;
      const taken: string[] = [];
      receiver.behave((response, { body }) => {
        if (body.includes(poison)) return void response.writeHead(400).end();
        taken.push(...shown([body]).map((one) => String(one["assay.annotation_id"])));
        response.writeHead(200).end("{}");
      });
      const running = exporting(host, receiver);
      await caughtUp(store);
      expect(taken).toEqual(ids.filter((id) => id !== poison));
      expect(running.stats()).toMatchObject({ exported: 4, rejected: 1 });
    });

    test("counts what the receiver says that it did not take", async () => {
      const { store, host, receiver, runId } = await bench();
      for (let i = 1; i <= 3; i++) await judge(host, runId, rating(i));
      receiver.behave((response) => void response.end('{"partialSuccess":{"rejectedLogRecords":"2"}}'));
      const running = exporting(host, receiver);
      await caughtUp(store);
      expect(running.stats()).toEqual({ exported: 1, rejected: 2, failures: 0 });
    });

    test("stops at once while it waits for a receiver, and takes its place up again", async () => {
      const { store, host, receiver, runId } = await bench();
      await judge(host, runId, rating(1));
      receiver.behave(503);
      const first = exporting(host, receiver, { retryFirstMs: 600_000, retryMaxMs: 600_000 });
      await until(() => receiver.received.length > 0);
      await first.stop();
      expect(await store.readCursor("otlp", "t1")).toBeUndefined();
      receiver.behave(200);
      exporting(host, receiver);
      await caughtUp(store);
      expect(takenBy(receiver).map(({ uid }) => uid)).toHaveLength(2);
    });
  });
});
