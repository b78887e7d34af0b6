import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIRST_ROUND } from "../../../src/store/port/reviews.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { AFP_RUN, decided, ReviewClient, reviewRequest, turned } from "../../../src/testing/review-client.ts";
import { type ScriptedReviewer, scriptedReviewer } from "../../../src/testing/scripted-reviewer.ts";
import { CANARIES, readableIn } from "../../../src/testing/secret-canaries.ts";

const SESSION = /^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$/;
const LIMIT = 4096;

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

describe.each(HTTP_STORES)("the provider of a host on %s", (_, open) => {
  let host: TestHost;
  let store: Store;
  let drop: () => Promise<void>;
  let client: ReviewClient;
  /** What the reviewer does before it answers. */
  let wait: ScriptedReviewer["wait"];

  beforeAll(async () => {
    const opened = await open();
    ({ store, drop } = opened);
    const reviewers = [scriptedReviewer({ wait: async () => wait?.() }), scriptedReviewer({ agent: "second" })];
    const reviews = { reviewers, backend: { busyMs: 0, pollMs: 1 }, reviewLimitMs: 10_000 };
    host = await testHost({ store, deps: { reviews }, settings: { maxReviewBytes: LIMIT } });
    client = new ReviewClient(host);
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  test("answers the first request in a session of its own, as the command would", async () => {
    const answer = await client.ask(undefined, reviewRequest("fix:this"));
    expect(answer.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
    const { sessionID, response } = turned(answer);
    expect(sessionID).toMatch(SESSION);
    expect(response).toMatchObject({ iteration: 1, status: "success" });
    expect(response.feedback.areas_for_improvement).toMatchObject([{ id: "remark-this" }]);
    expect(turned(await client.ask(undefined, reviewRequest("fix:this"))).sessionID).not.toBe(sessionID);
  });

  test("goes on in a session: decisions are acknowledged, and what was settled is not made again", async () => {
    const { sessionID } = await client.turn(undefined, "fix:a fix:b");
    const decisions = [decided("remark-a", "accepted"), decided("remark-b", "rejected", { reason_code: "infeasible" })];
    const { response } = await client.turn(sessionID, "fix:a fix:b", { iteration: 2, decisions });
    expect(response.applied_feedback_ack.items).toEqual([
      { id: "remark-a", processing_status: "acknowledged" },
      { id: "remark-b", processing_status: "acknowledged" },
    ]);
    expect(response.feedback.areas_for_improvement).toMatchObject([{ id: "remark-a", "x-reopened": true }]);
    const unknown = await client.turn(sessionID, "", { iteration: 3, decisions: [decided("other", "accepted")] });
    expect(unknown.response.applied_feedback_ack.items).toEqual([{ id: "other", processing_status: "unknown_id" }]);
  });

  test("gives the same answer to the same request, and asks no reviewer again", async () => {
    const first = await client.turn(undefined, "fix:a");
    const decisions = [decided("remark-a", "accepted")];
    const second = await client.turn(first.sessionID, "fix:c", { iteration: 2, decisions });
    wait = () => Promise.reject(new Error("asked again"));
    const again = await client.turn(first.sessionID, "fix:c", { iteration: 2, decisions });
    wait = undefined;
    expect(again).toEqual(second);
    expect((await host.ask("GET", `/v1/host/assay/reviews/${first.sessionID}`)).json().rounds).toBe(2);
  });

  test("answers wrong requests within the protocol, in a session that can be gone on with", async () => {
    for (const body of ["{", "[]", '{"protocol_version":"1.2"}', Buffer.from([0xff, 0xfe, 0x41])]) {
      const { sessionID, response } = turned(await host.ask("POST", AFP_RUN, { body }));
      expect(response).toMatchObject({ status: "error", error: { code: "INVALID_REQUEST" }, iteration: 1 });
      expect((await client.turn(sessionID, "fix:a")).response.status).toBe("success");
    }
    const image = reviewRequest("x", { artifact: { media_type: "image/png" } });
    expect(turned(await client.ask(undefined, image)).response.error.code).toBe("UNSUPPORTED_MEDIA_TYPE");
  });

  test("says no more than that a review failed, and keeps what was decided", async () => {
    const { sessionID } = await client.turn(undefined, "fix:a");
    const decisions = [decided("remark-a", "accepted")];
    const { response } = await client.turn(sessionID, "break: /secret/path", { iteration: 2, decisions });
    expect(response.error.code).toBe("INTERNAL_ERROR");
    expect(JSON.stringify(response)).not.toContain("/secret/path");
    const state = (await host.ask("GET", `/v1/host/assay/afp/sessions/${sessionID}`)).json();
    expect(state).toMatchObject({
      iterations: [1],
      decisions: [{ id: "remark-a", status: "accepted", iteration: 2, processing_status: "acknowledged" }],
    });
  });

  test("takes the bytes as they are, whatever they say they are", async () => {
    const body = JSON.stringify(reviewRequest("fix:a"));
    for (const type of ["text/plain", "application/octet-stream", "application/x-www-form-urlencoded", ""]) {
      const answer = await host.ask("POST", AFP_RUN, { body, headers: { "content-type": type } });
      expect(turned(answer).response.status).toBe("success");
    }
    const coded = await host.ask("POST", AFP_RUN, { body, headers: { "content-encoding": "gzip" } });
    expectError(coded, "unsupported_media_type");
  });

  test("keeps what no column could hold: NUL, half a surrogate pair, deep values", async () => {
    const content = "fix:a \0 \ud800";
    const { sessionID } = turned(await client.ask(undefined, reviewRequest(content)));
    const decisions = [decided("remark-a", "partial", { explanation: "\0 \udfff" }), decided("\0", "accepted")];
    const { response } = await client.turn(sessionID, content, { iteration: 2, decisions });
    expect(response.applied_feedback_ack.items).toHaveLength(2);
    expect((await host.ask("GET", `/v1/host/assay/reviews/${sessionID}`)).statusCode).toBe(200);
  });

  describe("below the protocol", () => {
    const named = async (answer: Promise<Awaited<ReturnType<TestHost["ask"]>>>) => {
      const { statusCode, headers, payload } = await answer;
      const { error, details } = JSON.parse(payload);
      return [statusCode, details.name, error, headers] as const;
    };

    test("an empty body is EmptyInput", async () => {
      for (const body of ["", " \n\t ", "\ufeff"]) {
        const [status, name] = await named(host.ask("POST", AFP_RUN, { body }));
        expect([status, name]).toEqual([400, "EmptyInput"]);
      }
      expect((await named(host.ask("POST", AFP_RUN))).slice(0, 2)).toEqual([400, "EmptyInput"]);
    });

    test("a session that is empty, malformed, unknown or another's is SessionNotFound", async () => {
      const { sessionID } = await client.turn(undefined, "fix:a");
      const east = await new ReviewClient(host, "east").turn(undefined, "fix:a");
      for (const [as, session] of [
        ["owner", ""],
        ["owner", "../x"],
        ["owner", "ses_000000000000AAAAAAAAAAAAAA"],
        ["owner", "x".repeat(3000)],
        ["other", sessionID],
        ["east", sessionID],
        ["west", east.sessionID],
      ] as const) {
        const asking = new ReviewClient(host, as).ask(session, reviewRequest("fix:b", { iteration: 2 }));
        expect((await named(asking)).slice(0, 3)).toEqual([404, "SessionNotFound", "not_found"]);
        if (session === "" || session.includes("/") || session.length > 100) continue;
        const reading = host.ask("GET", `/v1/host/assay/afp/sessions/${session}`, { as });
        expect((await named(reading)).slice(0, 2)).toEqual([404, "SessionNotFound"]);
      }
      expect((await client.turn(east.sessionID, "fix:b", { iteration: 2 })).response.status).toBe("success");
    });

    test("a reviewer, a path and a method that are not known have names too", async () => {
      const json = reviewRequest("fix:a");
      expect((await named(host.ask("POST", `${AFP_RUN}?agent=nobody`, { json }))).slice(0, 2)).toEqual([
        404,
        "NotFound",
      ]);
      expect((await named(host.ask("GET", "/v1/host/assay/afp/elsewhere"))).slice(0, 2)).toEqual([404, "NotFound"]);
      const [status, name, , headers] = await named(host.ask("GET", AFP_RUN));
      expect([status, name, headers["allow"]]).toEqual([405, "MethodNotAllowed", "POST"]);
    });

    test("a body above the limit is TooLarge, also one that does not say how large it is", async () => {
      const [status, name, code] = await named(host.ask("POST", AFP_RUN, { body: "x".repeat(LIMIT + 1) }));
      expect([status, name, code]).toEqual([413, "TooLarge", "payload_too_large"]);
      const fits = { ...reviewRequest(""), "x-filler": "" };
      const room = LIMIT - JSON.stringify(fits).length;
      const body = JSON.stringify({ ...fits, "x-filler": "y".repeat(room) });
      expect(turned(await host.ask("POST", AFP_RUN, { body })).response.status).toBe("success");
    });

    test("a session in which another request is being answered is SessionBusy", async () => {
      const { sessionID } = await client.turn(undefined, "fix:a");
      const reviewing = deferred();
      const done = deferred();
      wait = () => {
        reviewing.resolve();
        return done.promise;
      };
      const first = client.turn(sessionID, "fix:b", { iteration: 2 });
      await reviewing.promise;
      const [status, name, code, headers] = await named(
        client.ask(sessionID, reviewRequest("fix:c", { iteration: 2 })),
      );
      expect([status, name, code, headers["retry-after"]]).toEqual([409, "SessionBusy", "review_session_busy", "2"]);
      done.resolve();
      wait = undefined;
      expect((await first).response.status).toBe("success");
      expect((await client.turn(sessionID, "fix:c", { iteration: 3 })).response.status).toBe("success");
    });
  });

  test("another reviewer can be asked for by name", async () => {
    const json = reviewRequest("fix:a");
    const { sessionID } = turned(await host.ask("POST", `${AFP_RUN}?agent=second`, { json }));
    expect(await client.get(`/${sessionID}`)).toMatchObject({ agent: "second", history: [{ agent: "second" }] });
  });

  test("a turn whose client has gone is finished and stored, and given to whoever asks again", async () => {
    const { sessionID } = await client.turn(undefined, "fix:a");
    const reviewing = deferred();
    const done = deferred();
    let reviews = 0;
    wait = () => {
      reviews += 1;
      reviewing.resolve();
      return done.promise;
    };
    const url = host.app.server.listening ? "" : await host.listen();
    const gone = request(`${url}${AFP_RUN}?session=${sessionID}`, { method: "POST", headers: bearer("owner") });
    gone.on("error", () => {});
    gone.end(JSON.stringify(reviewRequest("fix:b", { iteration: 2 })));
    await reviewing.promise;
    gone.destroy();
    const busy = await client.ask(sessionID, reviewRequest("fix:b", { iteration: 2 }));
    expectError(busy, "review_session_busy");
    done.resolve();
    let again = busy;
    while (again.statusCode === 409) again = await client.ask(sessionID, reviewRequest("fix:b", { iteration: 2 }));
    wait = undefined;
    expect(turned(again).response.feedback.areas_for_improvement).toMatchObject([{ id: "remark-b" }]);
    expect(reviews).toBe(1);
  });

  test("no secret is stored, in whatever it comes, and the answer stays the same", async () => {
    const settings = { maxReviewBytes: 1_000_000 };
    const reviewers = [scriptedReviewer()];
    const roomy = await testHost({ deps: { reviews: { reviewers } }, settings });
    const agent = new ReviewClient(roomy);
    const secrets = CANARIES.map(({ text }) => text);
    const words = secrets.map((text, i) => `fix:${i} ${text}`).join("\n");
    const { sessionID } = await agent.turn(undefined, `fix:a\n${words}`, {
      artifact: { artifact_ref: secrets.join(" ") },
    });
    const decisions = [
      decided("remark-a", "partial", { explanation: secrets.join("\n") }),
      ...secrets.map((text) => decided(text, "rejected", { reason_code: text })),
    ];
    const named = Object.fromEntries(secrets.map((text) => [text, 1]));
    const parts = { iteration: 2, decisions, artifact: { media_type: "text/plain", "x-more": secrets, ...named } };
    const first = await agent.turn(sessionID, { [secrets[0] ?? ""]: secrets }, parts);
    expect(first.response.applied_feedback_ack.items).toHaveLength(decisions.length);
    expect(first.response["x-warnings"]).toContainEqual(expect.objectContaining({ code: "unknown_field" }));
    expect(readableIn(JSON.stringify(first))).toEqual([]);
    const stored = await roomy.store.readReview({ tenant: "t1" }, sessionID);
    const rounds = await roomy.store.reviewRounds("t1", [sessionID], FIRST_ROUND, 9);
    const audit = await roomy.store.readAudit("t1", 0, 99, 99);
    expect(rounds).toHaveLength(2);
    expect(readableIn(JSON.stringify([stored, rounds, audit]))).toEqual([]);
    const again = await agent.turn(sessionID, { [secrets[0] ?? ""]: secrets }, parts);
    expect(again).toEqual(first);
    await roomy.close();
  });

  test("who may ask is a scope of its own", async () => {
    expectError(await host.ask("POST", AFP_RUN, { as: "viewer", json: reviewRequest("fix:a") }), "forbidden");
    expect((await host.ask("GET", "/v1/host/assay/reviews", { as: "viewer" })).statusCode).toBe(200);
  });
});
