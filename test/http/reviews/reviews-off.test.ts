import { afterAll, beforeAll, expect, test } from "vitest";
import { fillPath } from "../../../src/http/pipeline/read-url.ts";
import type { Operation } from "../../../src/protocol/operation.ts";
import { REVIEW_OPERATIONS } from "../../../src/protocol/reviews/operations.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { decidedReview, REVIEWS } from "../../../src/testing/review-client.ts";

let off: TestHost;
let on: TestHost;
beforeAll(async () => {
  off = await testHost({ capabilities: ["feedback"] });
  on = await testHost({ capabilities: ["reviews"] });
});
afterAll(() => Promise.all([off.close(), on.close()]));

test.each(Object.entries(REVIEW_OPERATIONS) as [string, Operation][])(
  "where reviews are switched off, there is no %s",
  async (_, { method, path }) => {
    const url = fillPath(path, { sessionId: "ses_none", remarkId: "none" });
    for (const as of ["owner", "stranger"] as const) expectError(await off.ask(method, url, { as }), "not_found");
  },
);

test("discovery tells where reviews are given, or says nothing of them", async () => {
  const extensions = async (host: TestHost) => (await host.ask("GET", "/.well-known/openwop")).json().extensions.assay;
  expect(await extensions(on)).toMatchObject({ reviews: "/v1/host/assay/afp" });
  expect(await extensions(off)).not.toHaveProperty("reviews");
});

test("where feedback is switched off, reviews are given and nothing of them is written beside runs", async () => {
  const session = await decidedReview(on);
  const answer = await on.ask("POST", `${REVIEWS}/${session}/items/remark-a:annotate`, {
    json: { runId: await on.newRun() },
  });
  expectError(answer, "capability_not_provided");
});
