import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chatModelOf } from "../../../src/cli/wiring/review-model.ts";
import { turnThreadScript } from "../../../src/cli/wiring/review-on.ts";
import { boundReviewer, type ReviewerBinding } from "../../../src/reviews/reviewers/bound-reviewer.ts";
import { TurnsApart } from "../../../src/reviews/server/turns-apart.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { KNOWN_SECRET } from "../../../src/testing/engine.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { decided, ReviewClient, reviewRequest } from "../../../src/testing/review-client.ts";
import { CANARIES, readableIn } from "../../../src/testing/secret-canaries.ts";
import { tempDir } from "../../../src/testing/temp-dir.ts";

const RULES: ReviewerBinding = { agent: "qualitative-reviewer", type: "builtin" };
const FAILS: ReviewerBinding = {
  agent: "failing",
  type: "command",
  command: { program: "/nowhere/at-all", args: [], directory: tempDir(), environment: {} },
};

describe("turns that are taken in a thread of their own", () => {
  let host: TestHost;
  let store: Store;
  let apart: TurnsApart;
  let client: ReviewClient;

  beforeEach(async () => {
    store = await openSqliteStore({ path: ":memory:" });
    apart = new TurnsApart({
      script: turnThreadScript(),
      store,
      reviewers: [RULES, FAILS],
      backend: { busyMs: 0, pollMs: 1 },
      reviewLimitMs: 30_000,
      secrets: () => [KNOWN_SECRET],
      signal: new AbortController().signal,
      fromBytes: 1,
    });
    const reviewers = [RULES, FAILS].map((binding) => boundReviewer(binding, chatModelOf));
    host = await testHost({ store, deps: { reviews: { reviewers, backend: { busyMs: 0 }, apart } } });
    client = new ReviewClient(host);
  });
  afterEach(async () => {
    await apart.close();
    await host.close();
  });

  test("are the same as those that are taken here: answers, decisions, repetitions, wrong requests", async () => {
    const here = await testHost({ deps: { reviews: { reviewers: [boundReviewer(RULES, chatModelOf)] } } });
    const talk = async (asking: ReviewClient) => {
      const first = await asking.turn(undefined, "TODO: this\n\nTODO: that");
      const ids = first.response.feedback.areas_for_improvement.map(({ id }: { id: string }) => id);
      const decisions = [decided(ids[0], "accepted"), decided(ids[1], "rejected", { reason_code: "infeasible" })];
      const second = await asking.turn(first.sessionID, "TODO: that", { iteration: 2, decisions });
      const again = await asking.turn(first.sessionID, "TODO: that", { iteration: 2, decisions });
      const wrong = await asking.turn(first.sessionID, "x", { iteration: 1.5 });
      const { history } = await asking.get(`/${first.sessionID}`);
      const rounds = history.map(({ at: _, ...round }: { at: string }) => round);
      return { rounds, answers: [first, second, again, wrong].map(({ response }) => response) };
    };
    expect(await talk(client)).toEqual(await talk(new ReviewClient(here)));
    await here.close();
    expectError(await client.ask("ses_000000000000AAAAAAAAAAAAAA", reviewRequest("x")), "not_found");
  });

  test("keep no secret, nor one that only this process knows", async () => {
    const secrets = [...CANARIES.map(({ text }) => text), KNOWN_SECRET];
    const { sessionID } = await client.turn(undefined, `TODO: ${secrets.join("\nTODO: ")}`);
    const stored = JSON.stringify(await store.readReview({ tenant: "t1" }, sessionID));
    expect(readableIn(stored)).toEqual([]);
    expect(stored).not.toContain(KNOWN_SECRET);
  });

  test("leave the host free to answer others meanwhile", async () => {
    const large = "# A heading\n\nSome words with [a link](#nowhere). And now?\n\n".repeat(25_000);
    let isOver = false;
    const review = client.turn(undefined, large, { artifact: { media_type: "text/markdown" } }).finally(() => {
      isOver = true;
    });
    let answered = 0;
    while (!isOver) {
      expect((await host.ask("GET", "/v1/host/assay/reviews")).statusCode).toBe(200);
      answered++;
      await new Promise(setImmediate);
    }
    expect((await review).response.status).toBe("success");
    // Were it reviewed here, there would be time for a few at most, before and after it.
    expect(answered).toBeGreaterThan(20);
  });

  test("tell here why a review failed, and the client no more than that it did", async () => {
    const path = "/v1/host/assay/afp/run?agent=failing";
    const answer = await host.ask("POST", path, { json: reviewRequest("TODO") });
    expect(answer.payload).toContain("INTERNAL_ERROR");
    expect(answer.payload).not.toContain("/nowhere/at-all");
    expect(JSON.stringify(host.logged)).toContain("/nowhere/at-all");
  });

  test("fail when their thread ends, and the next one starts another", async () => {
    const { sessionID } = await client.turn(undefined, "TODO: this");
    const asking = client.ask(sessionID, reviewRequest("words\n".repeat(100_000), { iteration: 2 }));
    // Whichever comes first: a turn that was over by then has its answer.
    await Promise.all([apart.close(), asking]);
    const { statusCode } = await asking;
    expect([200, 503]).toContain(statusCode);
    expect((await client.turn(undefined, "TODO: that")).response.status).toBe("success");
  });
});
