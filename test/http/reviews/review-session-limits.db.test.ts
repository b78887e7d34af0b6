import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DECISIONS_MAX } from "../../../src/reviews/server/session-limits.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";
import { decided, ReviewClient } from "../../../src/testing/review-client.ts";
import { scriptedReviewer } from "../../../src/testing/scripted-reviewer.ts";

const MAX_BYTES = 8_000_000;

describe.each(HTTP_STORES)("a session of reviews on %s", (_, open) => {
  let host: TestHost;
  let store: Store;
  let drop: () => Promise<void>;
  let client: ReviewClient;

  beforeAll(async () => {
    const opened = await open();
    ({ store, drop } = opened);
    const deps = { reviews: { reviewers: [scriptedReviewer()] } };
    host = await testHost({ store, deps, settings: { maxReviewBytes: MAX_BYTES } });
    client = new ReviewClient(host);
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const many = (count: number, explanation: string) =>
    Array.from({ length: count }, (_, i) => decided(`remark-${i}`, "rejected", { explanation }));
  const refused = { status: "error", error: { code: "INVALID_REQUEST" } };

  test.each([
    ["more decisions than a session takes from one", { decisions: many(DECISIONS_MAX + 1, "no") }],
    ["more words about them", { decisions: many(2, "n".repeat(200_000)) }],
    ["a name of the artifact that is no name", { artifact: { artifact_ref: "n".repeat(70_000) } }],
  ])("refuses a request with %s, and nothing of it is kept", async (_, parts) => {
    const { sessionID } = await client.turn(undefined, "fix:a");
    const before = await store.readReview({ tenant: "t1" }, sessionID);
    expect((await client.turn(sessionID, "fix:b", { iteration: 2, ...parts })).response).toMatchObject(refused);
    const after = await store.readReview({ tenant: "t1" }, sessionID);
    expect([after?.memory, after?.rounds]).toEqual([before?.memory, before?.rounds]);
  });

  test("comes to an end when it holds as much as it may, also as a copy, and is still read and counted", async () => {
    const decisions = many(1, "n".repeat(250_000));
    const { sessionID } = await client.turn(undefined, "fix:a");
    let iteration = 2;
    let answer = await client.turn(sessionID, "fix:b", { iteration, decisions });
    for (; answer.response.status === "success" && iteration < 20; iteration++) {
      answer = await client.turn(sessionID, "fix:b", { iteration: iteration + 1, decisions });
    }
    expect(answer.response).toMatchObject(refused);
    expect(answer.response.error.message).toContain("begin a new one");
    expect(iteration).toBeGreaterThan(5);
    const copy = await host.ask("POST", `/v1/host/assay/afp/run?fork=true&session=${sessionID}`, {
      json: {
        protocol_version: "1.2",
        iteration: iteration + 2,
        artifact: { media_type: "text/plain", content: "fix:c" },
      },
    });
    expect(copy.body).toContain("begin a new one");
    expect((await host.ask("GET", `/v1/host/assay/reviews/${sessionID}`)).statusCode).toBe(200);
    const counted = await host.ask("GET", "/v1/host/assay/reviews/analytics");
    expect(counted.json()).toMatchObject({ complete: true });
  });

  test("keeps no large artifact, and goes on without it", async () => {
    const { sessionID } = await client.turn(undefined, `fix:a\n${"n".repeat(2_000_000)}`);
    expect((await store.readReview({ tenant: "t1" }, sessionID))?.memory.length).toBeLessThan(10_000);
    const { response } = await client.turn(sessionID, "fix:b", { iteration: 2 });
    expect(response).toMatchObject({ status: "success" });
  });
});
