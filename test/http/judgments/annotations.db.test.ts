import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Annotation } from "../../../src/protocol/judgments/annotation.ts";
import { AnnotationView } from "../../../src/protocol/judgments/annotation-api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { type Asked, expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";

const RATING = { signal: { kind: "rating", rating: 4 } };

describe.each(HTTP_STORES)("annotations on %s", (_, open) => {
  let host: TestHost;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const annotate = (runId: string, json: object, asked: Asked = {}) =>
    host.ask("POST", `/v1/runs/${runId}/annotations`, { json, ...asked });
  const judge = async (runId: string, json: object, as: Who = "owner") =>
    (await host.ask("POST", `/v1/host/assay/runs/${runId}/annotations`, { json, as })).json();
  const list = async (runId: string, as: Who = "owner") =>
    (await host.ask("GET", `/v1/runs/${runId}/annotations`, { as })).json().annotations;
  const retract = (annotationId: string, asked: Asked = {}) =>
    host.ask("POST", `/v1/host/assay/annotations/${annotationId}:retract`, { json: { reason: "a slip" }, ...asked });
  const ended = async () => {
    const runId = await host.newRun();
    await expect.poll(async () => (await host.ask("GET", `/v1/runs/${runId}`)).json().status).toBe("completed");
    return runId;
  };
  const eventsOf = async (runId: string) =>
    (await host.ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } })).json().events;

  test("record each kind of signal, and list them oldest first as they were answered", async () => {
    const runId = await ended();
    const recorded = [];
    for (const signal of [
      { kind: "rating", rating: 5 },
      { kind: "correction", correction: "42, not 41" },
      { kind: "label", label: "off-brand" },
      { kind: "flag" },
    ]) {
      const answer = await annotate(runId, { signal, note: `a ${signal.kind}` });
      expect(answer.statusCode).toBe(201);
      expect(matches(Annotation, answer.json())).toBe(true);
      expect(answer.json()).toMatchObject({ target: { runId }, signal, actor: { principalRef: "ada" } });
      recorded.push(answer.json());
    }
    const listed = await host.ask("GET", `/v1/runs/${runId}/annotations`);
    expect(listed.json()).toEqual({ annotations: recorded });
  });

  test("can be about an event or a node, and about both when they agree", async () => {
    const runId = await ended();
    const event = (await eventsOf(runId)).find(({ type }: { type: string }) => type === "node.completed");
    for (const target of [{ eventId: event.eventId }, { nodeId: "a" }, { eventId: event.eventId, nodeId: "a" }]) {
      const answer = await annotate(runId, { ...RATING, target });
      expect(answer.statusCode).toBe(201);
      expect(answer.json().target).toEqual({ runId, ...target });
    }
    const first = (await eventsOf(runId))[0];
    expectError(
      await annotate(runId, { ...RATING, target: { eventId: first.eventId, nodeId: "a" } }),
      "validation_error",
    );
  });

  test("leave the run as it is: its log, its snapshot and its version", async () => {
    const runId = await ended();
    const before = { events: await eventsOf(runId), snapshot: (await host.ask("GET", `/v1/runs/${runId}`)).json() };
    await annotate(runId, RATING);
    expect({ events: await eventsOf(runId), snapshot: (await host.ask("GET", `/v1/runs/${runId}`)).json() }).toEqual(
      before,
    );
  });

  test("are stored clean: what was answered, what is listed and what the database holds", async () => {
    const runId = await ended();
    const canary = "sk-canary-rfc0056-do-not-leak-abc123";
    const answer = await annotate(runId, {
      signal: { kind: "correction", correction: `use ${canary} instead` },
      note: `the key was ${canary}`,
    });
    expect(answer.statusCode).toBe(201);
    expect(answer.json().signal.correction).toBe("use [REDACTED] instead");
    const stored = await host.store.annotationsOfRun(runId, undefined, 10);
    expect(JSON.stringify([answer.json(), await list(runId), stored])).not.toContain("canary");
  });

  test("leave an audit entry that names the actor and says nothing of the content", async () => {
    const runId = await ended();
    const { annotationId } = (await annotate(runId, { ...RATING, note: "unmistakable words" })).json();
    const { entries } = (await host.ask("GET", "/v1/host/assay/audit/entries?limit=200")).json();
    const entry = entries.find(({ target }: { target: string }) => target === `${runId}/${annotationId}`);
    expect(entry).toMatchObject({ actor: "ada", action: "annotation.create" });
    expect(entry.details).toMatchObject({ kind: "rating", granularity: "run" });
    expect(JSON.stringify(entries)).not.toContain("unmistakable");
  });

  test("are recorded once under an idempotency key, and answered the same", async () => {
    const runId = await ended();
    const headers = { "idempotency-key": `once-${runId}` };
    const answers = await Promise.all(Array.from({ length: 10 }, () => annotate(runId, RATING, { headers })));
    expect(new Set(answers.map(({ payload }) => payload)).size).toBe(1);
    expect(await list(runId)).toHaveLength(1);
    expectError(
      await annotate(runId, { signal: { kind: "rating", rating: 1 } }, { headers }),
      "idempotency_key_mismatch",
    );
  });

  test("are seen within the tenant and the workspace of the run only", async () => {
    const runId = await ended();
    const { annotationId } = await judge(runId, RATING);
    for (const as of ["other", "east"] as const) {
      expectError(await host.ask("GET", `/v1/runs/${runId}/annotations`, { as }), "not_found");
      expectError(await annotate(runId, RATING, { as }), "not_found");
      expectError(await host.ask("GET", `/v1/host/assay/annotations/${annotationId}`, { as }), "not_found");
      expectError(await retract(annotationId, { as }), "not_found");
    }
    expect(await list(runId)).toHaveLength(1);
    expectError(await annotate(runId, RATING, { as: "viewer" }), "forbidden");
  });

  test("are refused on a run that was deleted, however often it was judged before", async () => {
    const runId = await ended();
    expect((await annotate(runId, RATING)).statusCode).toBe(201);
    expect((await host.ask("DELETE", `/v1/host/assay/runs/${runId}`)).statusCode).toBe(200);
    expectError(await annotate(runId, RATING), "not_found");
    expect(await host.store.annotationsOfRun(runId, undefined, 10)).toEqual([]);
  });

  describe("that change their mind", () => {
    test("replace an earlier judgment of the same actor, and both stay on record", async () => {
      const runId = await ended();
      const first = await judge(runId, RATING);
      expect(matches(AnnotationView, first)).toBe(true);
      expect(first).toMatchObject({ state: "live", actorKind: "person", workflowId: "noop" });
      const second = await judge(runId, { signal: { kind: "rating", rating: 2 }, supersedes: first.annotationId });
      expect(second).toMatchObject({ state: "live", supersedes: first.annotationId });
      const seen = (await host.ask("GET", `/v1/host/assay/annotations/${first.annotationId}`)).json();
      expect(seen).toMatchObject({ state: "superseded", supersededBy: second.annotationId });
      const ids = (await list(runId)).map((one: { annotationId: string }) => one.annotationId);
      expect(ids).toEqual([first.annotationId, second.annotationId]);
      const again = await host.ask("POST", `/v1/host/assay/runs/${runId}/annotations`, {
        json: { ...RATING, supersedes: first.annotationId },
      });
      expectError(again, "annotation_conflict");
    });

    test("win one by one when several replace the same judgment at once", async () => {
      const runId = await ended();
      const { annotationId: supersedes } = await judge(runId, RATING);
      const answers = await Promise.all(
        [1, 2, 3, 4, 5].map((rating) =>
          host.ask("POST", `/v1/host/assay/runs/${runId}/annotations`, {
            json: { signal: { kind: "rating", rating }, supersedes },
          }),
        ),
      );
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409, 409, 409, 409]);
      expect(await list(runId)).toHaveLength(2);
    });

    test("withdraw a judgment with a reason, once", async () => {
      const runId = await ended();
      const { annotationId } = await judge(runId, RATING);
      const answer = await retract(annotationId);
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toMatchObject({ state: "retracted", retraction: { by: "ada", reason: "a slip" } });
      expectError(await retract(annotationId), "annotation_conflict");
      expect(await list(runId)).toHaveLength(1);
    });

    test("close a flag with a note that says what came of it, once", async () => {
      const runId = await ended();
      const { annotationId, flag } = await judge(runId, { signal: { kind: "flag" }, note: "looks wrong" });
      expect(flag).toEqual({ status: "open" });
      const close = () =>
        host.ask("POST", `/v1/host/assay/annotations/${annotationId}:close`, { json: { note: "it was right" } });
      expect((await close()).json().flag).toMatchObject({ status: "closed", closedBy: "ada", note: "it was right" });
      expectError(await close(), "annotation_conflict");
    });
  });
});
