import { describe, expect, test } from "vitest";
import { toolsOf, watched } from "../../testing/agent-task.ts";
import { MODEL_KEY, ModelAgent } from "../../testing/model-agent.ts";
import { type ModelReply, ModelServer } from "../../testing/model-server.ts";
import { chatStream } from "../../testing/model-streams.ts";
import { MODEL_DEFAULTS } from "../models/model-settings.ts";
import { modelBinding } from "./model.ts";

const agent = new ModelAgent();

const MESSAGE_START = JSON.stringify({
  type: "message_start",
  message: { id: "m", type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 1 } },
});

describe("a model that is busy or fails", () => {
  test("is asked again with growing waits, or after the time that it asks for", async () => {
    agent.inTurn(
      { type: "status", status: 503 },
      { type: "status", status: 429, headers: { "retry-after": "7" } },
      { type: "drop" },
      { text: ["there"] },
    );
    const { answer, again } = await agent.ask();
    expect(answer).toEqual({ type: "completed", output: "there" });
    expect(agent.waited).toEqual([1000, 7000, 4000]);
    expect(again).toBe(3);
  });

  test("says it again when it was cut off in the middle", async () => {
    agent.inTurn({ type: "cut", text: "half of" }, { text: ["the whole"] });
    const { answer, chunks, again } = await agent.ask();
    expect(answer).toEqual({ type: "completed", output: "the whole" });
    expect(chunks.at(-1)).toBe("the whole");
    expect(again).toBe(1);
  });

  test("repeats only the turn that failed, not the tools before it", async () => {
    agent.inTurn({ calls: [{ name: "host_add", args: "{}" }] }, { type: "drop" }, { text: ["done"] });
    const { surface, asked } = toolsOf([{ name: "host:add" }], () => ({ status: "ok", outcome: 1 }));
    expect((await agent.ask({}, { tools: surface })).answer).toMatchObject({ output: "done" });
    expect(asked).toHaveLength(1);
  });

  test.each([
    [{ type: "status", status: 429 }, "agent_rate_limited", "m: it answered 429"],
    [{ type: "status", status: 500 }, "agent_unreachable", "m: it answered 500"],
    [{ type: "drop" }, "agent_unreachable", "m: it cannot be reached: the connection was closed without an answer"],
    [{ type: "cut", text: "half" }, "agent_unreachable", "m: its answer broke off"],
    [{ type: "raw", contentType: "text/event-stream", body: "" }, "agent_unreachable", "m: its answer broke off"],
    [
      { type: "raw", contentType: "text/event-stream", body: 'data: {"error":{"message":"overloaded"}}\n\n' },
      "agent_unreachable",
      "m: its answer broke off",
    ],
  ] satisfies [ModelReply, string, string][])(
    "is given up after as many attempts as are allowed: %j",
    async (reply, code, message) => {
      expect(await agent.answerTo(reply, { attemptsMax: 2 })).toEqual({
        type: "failed",
        error: { code, message, retryable: true },
      });
      expect(agent.server.calls).toHaveLength(2);
    },
  );

  test("is given up when it asks for more time than there is", async () => {
    const reply: ModelReply = { type: "status", status: 429, headers: { "retry-after": "3600" } };
    expect(await agent.answerTo(reply)).toMatchObject({ error: { code: "agent_rate_limited" } });
    expect(agent.server.calls).toHaveLength(1);
  });

  test("is not agent.waited for longer than agreed", async () => {
    expect(await agent.answerTo({ type: "silence" }, { timeoutMs: 200 })).toEqual({
      type: "failed",
      error: { code: "agent_timeout", message: "no answer within 200 ms", retryable: true },
    });
  });

  test("that nobody serves cannot be reached", async () => {
    await agent.server.close();
    expect((await agent.ask({ attemptsMax: 1 })).answer).toMatchObject({
      error: { code: "agent_unreachable", message: "m: it cannot be reached: the connection was refused" },
    });
  });
});

describe("an answer that is none", () => {
  test.each([400, 401, 403, 404])("is not asked for again after %i", async (status) => {
    expect(await agent.answerTo({ type: "status", status })).toMatchObject({
      error: { code: "agent_error", message: `m: it answered ${status}`, retryable: false },
    });
    expect(agent.server.calls).toHaveLength(1);
  });

  test("is quoted with one word at most, since messages repeat keys and data", async () => {
    const body = JSON.stringify({ error: { message: `bad key ${MODEL_KEY} for "6 × 7?"`, code: "invalid_api_key" } });
    const answer = await agent.answerTo({ type: "status", status: 401, body });
    expect(answer).toMatchObject({ error: { message: "m: it answered 401 (invalid_api_key)" } });
    const words = JSON.stringify({ error: { code: `no key ${MODEL_KEY}`, type: "auth" } });
    expect(await agent.answerTo({ type: "status", status: 401, body: words })).toMatchObject({
      error: { message: "m: it answered 401 (auth)" },
    });
    const word = JSON.stringify({ error: { code: "hunter_two" } });
    expect(await agent.answerTo({ type: "status", status: 401, body: word }, { key: "hunter_two" })).toMatchObject({
      error: { message: "m: it answered 401" },
    });
  });

  test("is not listened to for ever when it complains", async () => {
    const reply: ModelReply = { type: "flood", status: 404, chunk: "x".repeat(65_536) };
    expect(await agent.answerTo(reply)).toMatchObject({
      error: { code: "agent_error", message: "m: it answered 404" },
    });
    await agent.server.hungUp(1);
  });

  test("cannot send the key elsewhere", async () => {
    const elsewhere = await ModelServer.start(() => chatStream({}));
    const headers = { location: `${elsewhere.url}/chat/completions` };
    expect(await agent.answerTo({ type: "status", status: 307, headers })).toMatchObject({
      error: { code: "agent_error" },
    });
    expect(elsewhere.calls).toEqual([]);
    await elsewhere.close();
  });

  test.each([
    ["a page", { type: "raw", body: "<html>" }],
    ["one object", { type: "raw", body: "{}" }],
    ["a stream of pages", { type: "raw", contentType: "text/event-stream", body: "data: <html>\n\ndata: [DONE]\n\n" }],
    ["something without end", { type: "flood", chunk: "x".repeat(65_536) }],
  ] satisfies [string, ModelReply][])("is %s", async (_, reply) => {
    expect(await agent.answerTo(reply)).toMatchObject({
      error: { code: "agent_output_invalid", message: "m: what it answered is not a stream of a completion" },
    });
    expect(agent.server.calls).toHaveLength(1);
  });

  test.each([
    ["openai-compatible", '{"choices":7}', "choices"],
    ["openai-compatible", '{"choices":[{"delta":{"content":7}}]}', "choices.0.delta.content"],
    ["anthropic", '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}', "usage.output_tokens"],
  ] as const)("of %s is %s, and it is told what is wrong with it", async (provider, event, place) => {
    const events = provider === "anthropic" ? [MESSAGE_START, event] : [event];
    const body = events.map((one) => `data: ${one}\n\n`).join("");
    const reply: ModelReply = { type: "raw", contentType: "text/event-stream", body };
    expect(await agent.answerTo(reply, { provider })).toMatchObject({
      error: {
        code: "agent_output_invalid",
        message: `m: what it answered is not a stream of a completion: ${place} is missing or wrong`,
      },
    });
  });

  test("is not taken beyond its limit, whether said, thought or only sent", async () => {
    const long = "x".repeat(600);
    for (const reply of [
      { text: [long, long] },
      { reasoning: [long, long] },
      { calls: [{ name: "x", args: JSON.stringify(long + long) }] },
      { type: "raw", contentType: "text/event-stream", body: `: ${"x".repeat(2_000_000)}\n\n` } as const,
    ]) {
      expect(await agent.answerTo(reply, { maxOutputBytes: 1000 })).toMatchObject({
        error: { code: "agent_output_too_large", message: "m: its answer is larger than 1000 bytes" },
      });
    }
  });

  test("is none when it was cut off at the most tokens", async () => {
    const error = { code: "agent_output_too_large", instead: "cut-off" };
    expect(await agent.answerTo({ text: ["half a"], finish: "length" })).toMatchObject({ error });
    await agent.ask({ maxOutputTokens: 10 }, { outputBudget: { times: 4 } });
    await agent.ask({ maxOutputTokens: 10 }, { outputBudget: { tokens: 7, times: 2 } });
    await agent.ask({}, { outputBudget: { times: 2 } });
    const most = agent.server.calls.slice(-3).map(({ body }) => body["max_tokens"]);
    expect(most).toEqual([40, 14, undefined]);
  });
});

describe("a call that is no longer wanted", () => {
  test("ends while the model is silent, and the connection with it", async () => {
    agent.inTurn({ type: "silence" });
    const stop = new AbortController();
    const asked = agent.ask({}, { signal: stop.signal });
    await agent.server.called(1);
    stop.abort(new Error("cancelled"));
    await expect(asked).rejects.toThrow("cancelled");
    await agent.server.hungUp(1);
  });

  test("ends while it waits for its next attempt", async () => {
    agent.inTurn({ type: "status", status: 503 });
    const stop = new AbortController();
    const patient = modelBinding(
      {
        ...MODEL_DEFAULTS,
        provider: "openai-compatible",
        providerName: "local",
        baseUrl: agent.server.url,
        model: "m",
        format: "json",
        maxTurns: 1,
      },
      [],
    );
    const asked = watched(patient, { signal: stop.signal });
    await agent.server.called(1);
    setTimeout(() => stop.abort(new Error("cancelled")), 20);
    await expect(asked).rejects.toThrow("cancelled");
  });

  test("is never made when that is known before", async () => {
    await expect(agent.ask({}, { signal: AbortSignal.abort(new Error("cancelled")) })).rejects.toThrow("cancelled");
    expect(agent.server.calls).toEqual([]);
  });
});
