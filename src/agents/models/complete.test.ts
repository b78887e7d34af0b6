import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
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
let waited: number[];

beforeEach(async () => {
  waited = [];
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
  return completer(settings, { now: () => 0, chance: () => 0, wait: async (ms) => void waited.push(ms) });
}
const forEver = () => new AbortController().signal;

describe("a model that completes", () => {
  test("is sent the conversation, its name and the key, and answers with text and why it stopped", async () => {
    expect(await model().complete(messages, schema, forEver())).toEqual({ text: '{"fine":true}', finish: "stop" });
    const [call] = server.calls;
    expect(call?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(call?.system).toContain("the rules");
    expect(call?.system).toContain(JSON.stringify(schema));
    expect(call?.body).toMatchObject({ model: "m", response_format: { type: "json_object" } });
    expect(call?.headers["authorization"]).toBe(`Bearer ${KEY}`);
  });

  test("is sent no key when there is none", async () => {
    await model({ key: undefined }).complete(messages, schema, forEver());
    expect(server.calls[0]?.headers["authorization"]).toBeUndefined();
  });

  test("is asked without the wish for JSON when it refuses that, and from then on", async () => {
    server.behave(({ body }) =>
      "response_format" in body ? { type: "status", status: 400 } : chatStream({ text: ["{}"] }),
    );
    const one = model();
    await one.complete(messages, schema, forEver());
    await one.complete(messages, schema, forEver());
    expect(server.calls.map(({ body }) => "response_format" in body)).toEqual([true, false, false]);
    expect(waited).toEqual([]);
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
    expect(inspect(model(), { depth: 9, showHidden: true })).not.toContain(KEY);
  });

  test("has its time for each attempt, and is asked as often as is allowed", async () => {
    server.behave(() => ({ type: "silence" }));
    const failed = model({ timeoutMs: 50, attemptsMax: 3 }).complete(messages, schema, forEver());
    await expect(failed).rejects.toMatchObject({ details: { problem: "no answer within 50 ms" } });
    expect(waited).toEqual([1000, 2000]);
  });

  test("is not asked by fetch, which gives up after five minutes of silence, whatever time there is", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new Error("asked by fetch")));
    const asked = model().complete(messages, schema, forEver());
    await expect(asked.finally(() => vi.unstubAllGlobals())).resolves.toMatchObject({ finish: "stop" });
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
