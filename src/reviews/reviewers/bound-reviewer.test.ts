import { expect, test } from "vitest";
import { chatModelOf } from "../../cli/wiring/review-model.ts";
import { answer, says } from "../../testing/model-review.ts";
import { ModelServer } from "../../testing/model-server.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { newSession } from "../provider/session.ts";
import type { ReviewAsked } from "../reviewer.ts";
import { boundReviewer, type ReviewerBinding } from "./bound-reviewer.ts";

const asked: ReviewAsked = {
  request: {
    protocol_version: "1.2",
    iteration: 1,
    artifact: { media_type: "text/plain", content: "Copy the data. TODO: say how" },
  },
  session: newSession("ses_1"),
  decisions: [],
  signal: new AbortController().signal,
};

const PRINTS = `process.stdin.resume().on("end", () => console.log(JSON.stringify({ areas_for_improvement: [], general_summary: "seen" })))`;

test("a name is answered to by whoever it is bound to: the rules, a model or a program, for the same kinds of artifact", async () => {
  const server = await ModelServer.start(() => says(answer()));
  const command = { program: process.execPath, args: ["--eval", PRINTS], directory: tempDir(), environment: {} };
  const bindings: ReviewerBinding[] = [
    { agent: "rules", type: "builtin" },
    { agent: "deep", type: "model", model: { url: `${server.url}/`, model: "m", timeoutMs: 10_000, attemptsMax: 1 } },
    { agent: "program", type: "command", command },
  ];
  const reviewers = bindings.map((binding) => boundReviewer(binding, chatModelOf));
  const [rules, deep, program] = await Promise.all(reviewers.map((one) => one.review(asked)));
  await server.close();
  expect(rules?.remarks[0]?.id).toMatch(/^todo-mark/);
  expect(deep?.remarks).toHaveLength(1);
  expect(program?.general_summary).toBe("seen");
  expect(reviewers.map(({ agent }) => agent)).toEqual(["rules", "deep", "program"]);
  for (const one of reviewers) expect([one.reviews("text/plain"), one.reviews("image/png")]).toEqual([true, false]);
});
