import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answer, PLAN, says } from "../../src/testing/model-review.ts";
import { ModelServer } from "../../src/testing/model-server.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay } from "../cli/assay.ts";

const KEY = "sk-not-for-anybody-else";

let server: ModelServer;
let state: string;
beforeEach(async () => {
  server = await ModelServer.start(() => says(answer()));
  state = tempDir();
});
afterEach(() => server.close());

/** One turn through the program, with the model that the environment names. */
async function provide(iteration: number, items: readonly object[] = [], session: readonly string[] = []) {
  const request = {
    protocol_version: "1.2",
    iteration,
    artifact: { media_type: "text/markdown", content: PLAN },
    ...(items.length === 0 ? {} : { applied_feedback: { items } }),
  };
  const ended = await assay(["review", "provide", "--format", "json", "--state", state, ...session], {
    stdin: JSON.stringify(request),
    env: {
      ASSAY_REVIEW_MODEL: "scripted",
      ASSAY_REVIEW_MODEL_URL: server.url,
      ASSAY_REVIEW_MODEL_KEY: KEY,
      ASSAY_REVIEW_MODEL_ATTEMPTS: "1",
    },
  });
  expect(ended.code).toBe(0);
  const [, text] = ended.stdout.split("\n").map((line) => (line === "" ? {} : JSON.parse(line)));
  const { sessionID, part } = text as { sessionID: string; part: { text: string } };
  return { ...ended, sessionID, response: JSON.parse(part.text) };
}

function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}

test("a model that settings name reviews, and what it said and was told carries over to the next turn", async () => {
  const first = await provide(1);
  const [remark] = first.response.feedback.areas_for_improvement;
  expect(remark).toMatchObject({ id: expect.stringMatching(/^safety\./), description: "Nothing is verified." });
  expect(server.calls[0]?.headers["authorization"]).toBe(`Bearer ${KEY}`);

  const rejected = { id: remark.id, status: "rejected", reason_code: "infeasible" };
  const second = await provide(2, [rejected], ["--session", first.sessionID]);
  expect(second.response).toMatchObject({
    feedback: { areas_for_improvement: [] },
    applied_feedback_ack: { items: [{ id: remark.id, processing_status: "acknowledged" }] },
  });
  expect(server.calls[1]?.user).toContain('"reason_code":"infeasible"');
});

test("a model that fails is an INTERNAL_ERROR, the reason is on standard error, and the key nowhere", async () => {
  const body = JSON.stringify({ error: { message: `bad key ${KEY}`, code: "invalid_api_key" } });
  server.behave(() => ({ type: "status", status: 401, body }));
  const { stdout, stderr, response } = await provide(1);
  expect(response).toMatchObject({ status: "error", error: { code: "INTERNAL_ERROR" } });
  expect(stderr).toContain("it answered 401 (invalid_api_key)");
  expect(`${stdout}${stderr}${everythingIn(state)}`).not.toContain(KEY);
});
