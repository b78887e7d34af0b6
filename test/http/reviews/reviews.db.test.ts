import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { countReviews } from "../../../src/reviews/server/list-reviews.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import { foreignLine, HEADER } from "../../../src/testing/judgment-files.ts";
import {
  AFP_RUN,
  decided,
  decidedReview,
  REVIEWS,
  ReviewClient,
  reviewRequest,
} from "../../../src/testing/review-client.ts";
import { scriptedReviewer } from "../../../src/testing/scripted-reviewer.ts";

describe.each(HTTP_STORES)("reviews on %s", (_, open) => {
  let host: TestHost;
  let store: Store;
  let drop: () => Promise<void>;
  let client: ReviewClient;

  beforeAll(async () => {
    const opened = await open();
    ({ store, drop } = opened);
    const reviewers = [scriptedReviewer(), scriptedReviewer({ agent: "second" })];
    host = await testHost({ store, deps: { reviews: { reviewers } } });
    client = new ReviewClient(host);
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  test("are shown with their rounds, their remarks and what was decided on each", async () => {
    const { sessionID } = await client.turn(undefined, "fix:a fix:b");
    const decisions = [
      decided("remark-a", "accepted"),
      decided("remark-b", "rejected", { reason_code: "out_of_scope", explanation: "later" }),
    ];
    await client.turn(sessionID, "done", { iteration: 2, decisions });
    const shown = await client.get(`/${sessionID}`);
    expect(shown).toMatchObject({
      sessionId: sessionID,
      agent: "qualitative-reviewer",
      createdBy: "ada",
      rounds: 2,
      history: [
        { n: 1, conversation: 1, iteration: 1, outcome: "success", by: "ada", decisions: [] },
        { n: 2, iteration: 2, remarks: [], decisions: [{ id: "remark-a" }, { id: "remark-b" }] },
      ],
      items: [
        { id: "remark-a", status: "accepted", iterations: [1], decisions: [{ by: "ada", iteration: 2 }] },
        { id: "remark-b", status: "rejected", decisions: [{ reason_code: "out_of_scope", explanation: "later" }] },
      ],
      analytics: { issued: 2, decided: 2, acceptance_rate: 0.5, conversations: { converged: 1 } },
    });
    expect(JSON.stringify(shown)).not.toContain("done");
    const state = (await host.ask("GET", `/v1/host/assay/afp/sessions/${sessionID}`)).json();
    expect(state).toMatchObject({
      sessionID,
      iterations: [1, 2],
      issued: [{ id: "remark-a", aspect: "wording", iterations: [1] }, { id: "remark-b" }],
      decisions: [{ id: "remark-a" }, { id: "remark-b", processing_status: "acknowledged" }],
      analytics: { coverage: 1 },
    });
  });

  test("are remembered by the provider from the last beginning on, and by the host from the first", async () => {
    const { sessionID } = await client.turn(undefined, "fix:a");
    await client.turn(sessionID, "fix:a", { iteration: 2, decisions: [decided("remark-a", "accepted")] });
    await client.turn(sessionID, "fix:b");
    const state = (await host.ask("GET", `/v1/host/assay/afp/sessions/${sessionID}`)).json();
    expect(state).toMatchObject({
      iterations: [1],
      issued: [{ id: "remark-b" }],
      decisions: [],
      analytics: { issued: 1, decided: 0, conversations: { total: 1 } },
    });
    expect(await client.get(`/${sessionID}`)).toMatchObject({ rounds: 3, analytics: { conversations: { total: 2 } } });
  });

  test("are listed newest first, in pages, by reviewer and time, to those who may see them", async () => {
    const east = new ReviewClient(host, "east");
    const made: string[] = [];
    for (let i = 0; i < 3; i++) made.unshift((await east.turn(undefined, "fix:a")).sessionID);
    const json = reviewRequest("fix:a");
    await host.ask("POST", `${AFP_RUN}?agent=second`, { as: "east", json });
    const first = await east.get("?limit=2&agent=qualitative-reviewer");
    expect(first.reviews.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(made.slice(0, 2));
    const rest = await east.get(`?limit=2&agent=qualitative-reviewer&cursor=${first.nextCursor}`);
    expect(rest).toMatchObject({ reviews: [{ sessionId: made[2], workspace: "east", rounds: 1 }] });
    expect(rest).not.toHaveProperty("nextCursor");
    const whole = await east.get("?limit=3&agent=qualitative-reviewer");
    expect(whole.reviews).toHaveLength(3);
    expect(whole).not.toHaveProperty("nextCursor");
    expect(await east.get("?from=2999-01-01T00:00:00Z")).toEqual({ reviews: [] });
    for (const as of ["west", "other"] as const)
      expect(await new ReviewClient(host, as).get("")).toEqual({ reviews: [] });
    for (const query of ["cursor=x", `cursor=${first.nextCursor}=`, "from=today", "limit=0"]) {
      expectError(await host.ask("GET", `${REVIEWS}?${query}`), "validation_error");
    }
  });

  test("are counted over all sessions that the caller may see", async () => {
    const other = new ReviewClient(host, "other");
    const { sessionID } = await other.turn(undefined, "fix:a fix:b");
    await other.turn(sessionID, "fix:a", { iteration: 2, decisions: [decided("remark-a", "accepted")] });
    await other.turn(undefined, "fine");
    const counted = await other.get("/analytics");
    expect(counted).toMatchObject({
      sessions: 2,
      complete: true,
      analytics: {
        conversations: { total: 2, converged: 2, rounds_to_convergence: { mean: 1.5, max: 2 } },
        issued: 2,
        decided: 1,
        reraised: 1,
        by_reviewer: [{ reviewer: "qualitative-reviewer" }],
        by_aspect: [{ aspect: "wording", issued: 2 }],
      },
    });
    expect((await other.get("/analytics?agent=second")).sessions).toBe(0);
    expect(await countReviews(host.host, { tenant: "t2" }, {}, { sessionsMax: 1 })).toMatchObject({
      sessions: 1,
      complete: false,
    });
    expect(await countReviews(host.host, { tenant: "t2" }, {}, { sessionsMax: 2 })).toMatchObject({
      sessions: 2,
      complete: true,
    });
  });

  test("are counted up to a number of entries, of which an answer without remarks is one", async () => {
    const other = new ReviewClient(host, "other");
    await other.turn(undefined, "fine");
    const { sessionID } = await other.turn(undefined, "fine 1");
    for (let iteration = 2; iteration <= 50; iteration++)
      await other.turn(sessionID, `fine ${iteration}`, { iteration });
    const counted = (entriesMax: number) => countReviews(host.host, { tenant: "t2" }, {}, { entriesMax });
    expect(await counted(50)).toMatchObject({ sessions: 1, complete: false });
    expect(await counted(51)).toMatchObject({ complete: true });
  });

  describe("a remark that was decided on", () => {
    const annotate = (session: string, remark: string, json: object = {}, as: Who = "owner") =>
      host.ask("POST", `${REVIEWS}/${session}/items/${remark}:annotate`, { json, as });

    test("is written beside the run that its artifact names, once", async () => {
      const runId = await host.newRun();
      const { sessionID } = await client.turn(undefined, "fix:a \0", { artifact: { "x-run-id": runId } });
      const decisions = [decided("remark-a", "rejected", { reason_code: "infeasible", explanation: "no time" })];
      await client.turn(sessionID, "done", { iteration: 2, decisions });
      const answers = await Promise.all([1, 2, 3].map(() => annotate(sessionID, "remark-a")));
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 201]);
      const [first] = answers.map((answer) => answer.json());
      expect(first.annotation).toMatchObject({
        target: { runId },
        signal: { kind: "label", label: "review-rejected" },
        actor: { principalRef: "ada" },
        state: "live",
      });
      for (const said of ["wording: the text says fix:a", "something else than a", "infeasible: no time", sessionID]) {
        expect(first.annotation.note).toContain(said);
      }
      const listed = (await host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
      expect(listed.annotations).toHaveLength(1);
    });

    test("is written beside any run, event or node that the caller names", async () => {
      const runId = await host.newRun();
      const sessionID = await decidedReview(host);
      expectError(await annotate(sessionID, "remark-a"), "validation_error");
      const whole = (await annotate(sessionID, "remark-a", { runId })).json();
      const node = (await annotate(sessionID, "remark-a", { runId, nodeId: "a" })).json();
      expect(node).toMatchObject({ created: true, annotation: { target: { runId, nodeId: "a" } } });
      expect(node.annotation.annotationId).not.toBe(whole.annotation.annotationId);
      expectError(await annotate(sessionID, "remark-a", { runId, nodeId: "none" }), "validation_error");
      expectError(await annotate(sessionID, "remark-a", { runId: "run-none" }), "not_found");
    });

    test("replaces what the same caller wrote of an earlier decision on it", async () => {
      const runId = await host.newRun();
      const sessionID = await decidedReview(host);
      const before = (await annotate(sessionID, "remark-a", { runId })).json().annotation;
      await client.turn(sessionID, "fix:a", { iteration: 3, decisions: [decided("remark-a", "rejected")] });
      const { annotation, created } = (await annotate(sessionID, "remark-a", { runId })).json();
      expect(created).toBe(true);
      expect(annotation).toMatchObject({ supersedes: before.annotationId, signal: { label: "review-rejected" } });
      expect((await annotate(sessionID, "remark-a", { runId })).json().created).toBe(false);
    });

    test("replaces what a person wrote with a person's key only", async () => {
      const runId = await host.newRun();
      const sessionID = await decidedReview(host);
      const before = (await annotate(sessionID, "remark-a", { runId })).json().annotation;
      await client.turn(sessionID, "fix:a", { iteration: 3, decisions: [decided("remark-a", "rejected")] });
      const made = await host.ask("POST", "/v1/host/assay/keys", { json: { principal: "ada", kind: "agent" } });
      const headers = { authorization: `Bearer ${made.json().key}` };
      const url = `${REVIEWS}/${sessionID}/items/remark-a:annotate`;
      const refused = await host.ask("POST", url, { json: { runId }, headers });
      expect(expectError(refused, "forbidden")).toMatchObject({ annotationId: before.annotationId });
      const { annotations } = (await host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
      expect(annotations).toMatchObject([{ annotationId: before.annotationId }]);
      expect((await annotate(sessionID, "remark-a", { runId })).json().created).toBe(true);
    });

    test("is refused where a judgment was imported under its id, which can be foreseen", async () => {
      const runId = await host.newRun();
      const { workflowId } = (await host.ask("GET", `/v1/runs/${runId}`)).json();
      const sessionID = await decidedReview(host);
      const commit = store.commit.bind(store);
      let annotationId = "";
      const spy = vi.spyOn(store, "commit").mockImplementation(async (unit) => {
        const [write] = unit.annotations ?? [];
        if (write?.type !== "record") return commit(unit);
        spy.mockRestore();
        ({ annotationId } = write.annotation);
        const forged = foreignLine({ annotationId, target: { runId }, workflowId, actor: { principalRef: "ada" } });
        const json = { lines: [HEADER, forged] };
        const answer = await host.ask("POST", "/v1/host/assay/annotations:import", { json });
        expect(answer.json(), answer.payload).toMatchObject({ imported: 1 });
        return commit(unit);
      });
      // Imported while the remark is written, and before it is written again.
      for (const answer of [
        await annotate(sessionID, "remark-a", { runId }),
        await annotate(sessionID, "remark-a", { runId }),
      ]) {
        expect(expectError(answer, "annotation_conflict")).toMatchObject({ annotationId });
      }
      const { annotations } = (await host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
      expect(annotations).toMatchObject([{ annotationId, signal: { kind: "rating" } }]);
    });

    test("leaves what somebody else wrote of an earlier decision as it is", async () => {
      const east = new ReviewClient(host, "east");
      const runId = await host.newRun("east");
      const { sessionID } = await east.turn(undefined, "fix:a");
      await east.turn(sessionID, "fix:a", { iteration: 2, decisions: [decided("remark-a", "accepted")] });
      const theirs = (await annotate(sessionID, "remark-a", { runId }, "east")).json().annotation;
      await east.turn(sessionID, "fix:a", { iteration: 3, decisions: [decided("remark-a", "rejected")] });
      const { annotation, created } = (await annotate(sessionID, "remark-a", { runId })).json();
      expect({ created, actor: annotation.actor.principalRef }).toEqual({ created: true, actor: "ada" });
      expect(annotation).not.toHaveProperty("supersedes");
      const { annotations } = (await host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
      expect(annotations.map(({ annotationId }: { annotationId: string }) => annotationId).sort()).toEqual(
        [theirs.annotationId, annotation.annotationId].sort(),
      );
    });

    test("is not written where nothing was decided, nothing is known or nothing may be", async () => {
      const runId = await host.newRun();
      const { sessionID } = await client.turn(undefined, "fix:a");
      expectError(await annotate(sessionID, "remark-a", { runId }), "review_item_undecided");
      expectError(await annotate(sessionID, "remark-z", { runId }), "not_found");
      expectError(await annotate("ses_000000000000AAAAAAAAAAAAAA", "remark-a", { runId }), "not_found");
      const decidedID = await decidedReview(host);
      expectError(await annotate(decidedID, "remark-a", { runId }, "viewer"), "forbidden");
      const east = await host.newRun("east");
      const theirs = new ReviewClient(host, "east");
      const session = (await theirs.turn(undefined, "fix:a")).sessionID;
      await theirs.turn(session, "done", { iteration: 2, decisions: [decided("remark-a", "accepted")] });
      expectError(await annotate(session, "remark-a", { runId }, "east"), "not_found");
      expect((await annotate(session, "remark-a", { runId: east }, "east")).statusCode).toBe(201);
      expect((await host.ask("GET", `/v1/runs/${runId}/annotations`)).json().annotations).toEqual([]);
    });
  });

  test("are deleted for good, by those who may, and what stands beside runs stays", async () => {
    const runId = await host.newRun();
    const sessionID = await decidedReview(host);
    await host.ask("POST", `${REVIEWS}/${sessionID}/items/remark-a:annotate`, { json: { runId } });
    expectError(await host.ask("DELETE", `${REVIEWS}/${sessionID}`, { as: "other" }), "not_found");
    expectError(await host.ask("DELETE", `${REVIEWS}/${sessionID}`, { as: "viewer" }), "forbidden");
    const answer = await host.ask("DELETE", `${REVIEWS}/${sessionID}`);
    expect(answer.json()).toEqual({ sessionId: sessionID, rounds: 2 });
    expectError(await host.ask("DELETE", `${REVIEWS}/${sessionID}`), "not_found");
    expectError(await host.ask("GET", `${REVIEWS}/${sessionID}`), "not_found");
    const asking = await client.ask(sessionID, reviewRequest("fix:a", { iteration: 3 }));
    expect(expectError(asking, "not_found")).toMatchObject({ name: "SessionNotFound" });
    expect((await host.ask("GET", `/v1/runs/${runId}/annotations`)).json().annotations).toHaveLength(1);
    const head = await store.auditHead("t1");
    const [last] = await store.readAudit("t1", head?.seq ?? 0, head?.seq ?? 0, 1);
    expect(last).toMatchObject({ action: "review.deleted", target: sessionID, details: { rounds: 2 } });
  });
});
