import { expect, test } from "vitest";
import { answer, says } from "../../testing/model-review.ts";
import { ModelServer } from "../../testing/model-server.ts";
import { newSession } from "../provider/session.ts";
import type { Reviewer } from "../reviewer.ts";
import { reviewerFor } from "./bound-reviewer.ts";

const builtIn: Reviewer = {
  agent: "qualitative-reviewer",
  reviews: (mediaType) => mediaType === "text/plain",
  review: () => Promise.reject(new Error("not asked")),
};

test("the built-in rules review when no model is named", () => {
  expect(reviewerFor({ builtIn })).toBe(builtIn);
});

test("a model that is named reviews in their name, and the same kinds of artifact", async () => {
  const server = await ModelServer.start(() => says(answer()));
  const reviewer = reviewerFor({ builtIn, model: { url: `${server.url}/`, model: "m" } });
  const { remarks } = await reviewer.review({
    request: {
      protocol_version: "1.2",
      iteration: 1,
      artifact: { media_type: "text/plain", content: "Copy the data" },
    },
    session: newSession("ses_1"),
    decisions: [],
    signal: new AbortController().signal,
  });
  await server.close();
  expect(remarks).toHaveLength(1);
  expect(reviewer.agent).toBe("qualitative-reviewer");
  expect([reviewer.reviews("text/plain"), reviewer.reviews("image/png")]).toEqual([true, false]);
});
