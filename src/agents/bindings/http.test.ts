import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Guard } from "../../engine/outbound/guard.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { watched } from "../../testing/agent-task.ts";
import { type ModelReply, ModelServer } from "../../testing/model-server.ts";
import type { AgentTask } from "../binding.ts";
import { HTTP_DEFAULTS, type HttpSettings, httpBinding } from "./http.ts";

const own: Guard = { allowPrivate: true, resolve: async () => [{ address: "127.0.0.1", family: 4 }] };
const KEY = "hunter2-hunter2";

let server: ModelServer;
let waited: number[];

beforeEach(async () => {
  server = await ModelServer.start(() => json({ output: "fine" }));
  waited = [];
});
afterEach(() => server.close());

const json = (value: unknown): ModelReply => ({ type: "raw", body: JSON.stringify(value) });

function agent(settings: Partial<HttpSettings> = {}, guard = own) {
  const headers = { authorization: `Bearer ${KEY}` };
  return httpBinding({ ...HTTP_DEFAULTS, url: `${server.url}/agent`, headers, ...settings }, guard, {
    now: () => 0,
    chance: () => 0,
    wait: async (ms) => void waited.push(ms),
    scrubText: scrubber().scrubText,
  });
}

const ask = (settings: Partial<HttpSettings> = {}, task: Partial<AgentTask> = {}) => watched(agent(settings), task);
const answered = async (reply: ModelReply, settings: Partial<HttpSettings> = {}) => {
  server.behave(() => reply);
  return (await ask(settings)).answer;
};

/** The last one again and again. */
function inTurn(...replies: ModelReply[]): void {
  server.behave((_, calls) => replies[Math.min(calls.length, replies.length) - 1] ?? json(null));
}

describe("an agent behind a URL", () => {
  test("is posted the task as JSON, with its headers", async () => {
    const task = { input: [1], taskId: "t1", trial: 2, systemPrompt: "be brief", returnSchema: { type: "string" } };
    await ask({}, task);
    const [call] = server.calls;
    expect(call?.path).toBe("/v1/agent");
    expect(call?.body).toEqual({ ...task, runId: "run-1", invocationId: "inv-1" });
    expect(call?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
      "idempotency-key": "inv-1",
    });
  });

  test("is given what it remembers", async () => {
    const memory = [{ id: "m1", content: "likes tea", tags: [], createdAt: "2026-01-01T00:00:00Z" }];
    await ask({}, { memory });
    expect(server.calls[0]?.body).toMatchObject({ memory });
  });

  test.each([
    [{ output: "x" }, "x"],
    [{ output: null, confidence: 0.5 }, null],
    ["plain", "plain"],
    [{ total: 3 }, { total: 3 }],
    [
      { output: "x", other: 1 },
      { output: "x", other: 1 },
    ],
    [{ refused: 1 }, { refused: 1 }],
  ])("answers with an output and what else is known of it, or with the output itself: %j", async (body, output) => {
    expect(await answered(json(body))).toMatchObject({ type: "completed", output });
  });

  test("may report usage, confidence and a hand-off", async () => {
    const body = {
      output: 1,
      usage: { input_tokens: 3, output_tokens: 4 },
      costUsd: 0.5,
      confidence: 0.9,
      handoff: { toAgentId: "local.team.other" },
    };
    server.behave(() => json(body));
    const { answer, usage } = await ask();
    const { output, confidence, handoff } = body;
    expect(answer).toEqual({ type: "completed", output, confidence, handoff });
    expect(usage).toMatchObject([{ provider: "http", inputTokens: 3, outputTokens: 4, costUsd: 0.5 }]);
  });

  test("names no provider and no model that looks like a secret", async () => {
    const named = { provider: "password=tulip-in-may", model: "sk-proj-Ab3dE6gH9jK2mN5pQ8sT1vW4" };
    server.behave(() => json({ output: 1, ...named, usage: { input_tokens: 3, output_tokens: 4 } }));
    expect((await ask()).usage).toMatchObject([{ provider: "password=[REDACTED]", model: "[REDACTED]" }]);
  });

  test("may refuse", async () => {
    expect(await answered(json({ refused: "not my job" }))).toEqual({ type: "refused", reason: "not my job" });
  });

  test("has a fingerprint only when somebody says which version it is, and shows no key", () => {
    expect(agent().fingerprint).toBeUndefined();
    expect(agent({ version: "1" }).fingerprint).not.toBe(agent({ version: "2" }).fingerprint);
    expect(inspect(agent(), { depth: 9, showHidden: true })).not.toContain(KEY);
  });
});

describe("an endpoint that is busy or fails", () => {
  test("is asked again with growing waits, or after the time that it asks for", async () => {
    inTurn(
      { type: "status", status: 503 },
      { type: "status", status: 429, headers: { "retry-after": "7" } },
      { type: "cut", text: "{" },
      json("there"),
    );
    expect((await ask()).answer).toEqual({ type: "completed", output: "there" });
    expect(waited).toEqual([1000, 7000, 4000]);
  });

  test.each([
    [{ type: "status", status: 429 }, "agent_rate_limited"],
    [{ type: "status", status: 500 }, "agent_unreachable"],
    [{ type: "drop" }, "agent_unreachable"],
    [{ type: "cut", text: "{" }, "agent_unreachable"],
  ] satisfies [ModelReply, string][])("is given up after as many attempts as are allowed: %j", async (reply, code) => {
    expect(await answered(reply, { attemptsMax: 3 })).toMatchObject({ error: { code, retryable: true } });
    expect(server.calls).toHaveLength(3);
  });

  test("is given up when it asks for more time than there is", async () => {
    const reply: ModelReply = { type: "status", status: 429, headers: { "retry-after": "3600" } };
    expect(await answered(reply)).toMatchObject({ error: { code: "agent_rate_limited" } });
    expect(server.calls).toHaveLength(1);
  });

  test("is not waited for longer than agreed", async () => {
    expect(await answered({ type: "silence" }, { timeoutMs: 60 })).toMatchObject({
      error: { code: "agent_timeout", message: "no answer within 60 ms" },
    });
  });

  test("is let go when the call is no longer wanted", async () => {
    server.behave(() => ({ type: "silence" }));
    const stop = new AbortController();
    const asked = ask({}, { signal: stop.signal });
    await server.called(1);
    stop.abort(new Error("cancelled"));
    await expect(asked).rejects.toThrow("cancelled");
  });
});

describe("an answer that is none", () => {
  test.each([400, 401, 404, 307])("is not asked for again after %i, and nothing of it is quoted", async (status) => {
    const reply: ModelReply = { type: "status", status, headers: { location: server.url }, body: `no: ${KEY}` };
    const answer = await answered(reply);
    expect(answer).toMatchObject({ error: { code: "agent_error", retryable: false } });
    expect(JSON.stringify(answer)).not.toContain(KEY);
    expect(server.calls).toHaveLength(1);
  });

  test.each(["", "<html>", "{"])("is no JSON: %s", async (body) => {
    expect(await answered({ type: "raw", body })).toMatchObject({ error: { code: "agent_output_invalid" } });
  });

  test("reports what cannot be counted", async () => {
    expect(await answered(json({ output: 1, costUsd: "free" }))).toMatchObject({
      error: { code: "agent_output_invalid", message: expect.stringContaining("costUsd is not an amount") },
    });
  });

  test("is not read beyond its limit", async () => {
    const flood: ModelReply = { type: "flood", chunk: "x".repeat(65_536) };
    expect(await answered(flood, { maxOutputBytes: 100_000 })).toMatchObject({
      error: { code: "agent_output_too_large" },
    });
    expect(server.calls).toHaveLength(1);
  });
});

test("a private address is called only where the guard allows it", async () => {
  const guarded = agent({}, { ...own, allowPrivate: false });
  expect((await watched(guarded)).answer).toMatchObject({ error: { code: "agent_not_configured", retryable: false } });
  expect(server.calls).toEqual([]);
});
