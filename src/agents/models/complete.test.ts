import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ModelServer } from "../../testing/model-server.ts";
import { chatStream } from "../../testing/model-streams.ts";
import { type CompletionMessage, completer } from "./complete.ts";
import { MODEL_DEFAULTS, type ModelSettings } from "./model-settings.ts";

const KEY = "sk-not-for-anybody-else";
const messages: CompletionMessage[] = [
  { role: "system", content: "the rules" },
  { role: "user", content: "the data" },
  { role: "assistant", content: "what?" },
  { role: "user", content: "the data, I said" },
];
const schema = { type: "object", properties: { fine: { type: "boolean" } } };

let server: ModelServer;

beforeEach(async () => {
  server = await ModelServer.start(() => chatStream({ text: ['{"fine":true}'] }));
});
afterEach(() => server.close());

function model(more: Partial<ModelSettings> = {}) {
  const settings: ModelSettings = {
    ...MODEL_DEFAULTS,
    provider: "openai-compatible",
    providerName: "local",
    baseUrl: server.url,
    model: "m",
    key: KEY,
    format: "json",
    ...more,
  };
  return completer(settings, [{ m: { input: 1, output: 1 } }], { now: () => 0, chance: () => 0, wait: async () => {} });
}
const forEver = () => new AbortController().signal;

describe("a model that completes", () => {
  test("is sent the conversation and answers with text, why it stopped and what it used", async () => {
    expect(await model().complete(messages, schema, forEver())).toEqual({
      text: '{"fine":true}',
      finish: "stop",
      usage: { provider: "local", model: "m", inputTokens: 100, outputTokens: 20, costUsd: 0.00012 },
    });
    const [call] = server.calls;
    expect(call?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(call?.system).toContain("the rules");
    expect(call?.system).toContain(JSON.stringify(schema));
    expect(call?.body["response_format"]).toEqual({ type: "json_object" });
  });

  test("is asked for text when there is no schema", async () => {
    await model().complete(messages, undefined, forEver());
    expect(server.calls[0]?.body["response_format"]).toBeUndefined();
    expect(server.calls[0]?.system).toBe("the rules");
  });

  test("says when its filter withheld the answer", async () => {
    server.behave(() => chatStream({ finish: "content_filter" }));
    expect(await model().complete(messages, schema, forEver())).toMatchObject({ text: "", finish: "content-filter" });
  });

  test("has failed in words that hold no key and no data", async () => {
    const body = JSON.stringify({ error: { message: `${KEY} the data`, type: "auth" } });
    server.behave(() => ({ type: "status", status: 401, body }));
    await expect(model().complete(messages, schema, forEver())).rejects.toMatchObject({
      code: "model_failed",
      details: { problem: "it answered 401 (auth)" },
    });
    server.behave(() => ({ type: "silence" }));
    await expect(model({ timeoutMs: 50 }).complete(messages, schema, forEver())).rejects.toMatchObject({
      details: { problem: "no answer within 50 ms" },
    });
    expect(inspect(model(), { depth: 9, showHidden: true })).not.toContain(KEY);
  });

  test("is let go when nobody waits any longer", async () => {
    server.behave(() => ({ type: "silence" }));
    const stop = new AbortController();
    const asked = model().complete(messages, schema, stop.signal);
    await server.called(1);
    stop.abort(new Error("cancelled"));
    await expect(asked).rejects.toThrow("cancelled");
  });
});
