import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { type ModelReply, ModelServer } from "../../testing/model-server.ts";
import { CHAT_MODEL_DEFAULTS, type ChatMessage, type ChatModelSettings, chatModel } from "./chat-model.ts";

const KEY = "sk-not-for-anybody-else";
const messages: ChatMessage[] = [
  { role: "system", content: "the rules" },
  { role: "user", content: "the data" },
];

let server: ModelServer;
let waited: number[];

beforeEach(async () => {
  server = await ModelServer.start(() => ({ type: "text", text: '{"fine":true}' }));
  waited = [];
});
afterEach(() => server.close());

function model(settings: Partial<ChatModelSettings> = {}) {
  const world = { now: () => 0, chance: () => 0, wait: async (ms: number) => void waited.push(ms) };
  return chatModel({ ...CHAT_MODEL_DEFAULTS, url: server.url, model: "m", key: KEY, ...settings }, world);
}

function ask(settings: Partial<ChatModelSettings> = {}, signal = new AbortController().signal) {
  return model(settings).ask(messages, signal);
}

async function problemOf(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).code).toBe("model_failed");
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(KEY);
  return String((error as AppError).details["problem"]);
}

/** One after the other, the last for ever. */
function inTurn(...replies: ModelReply[]): void {
  server.behave((_, calls) => replies[Math.min(calls.length, replies.length) - 1] ?? { type: "drop" });
}

describe("a model that answers", () => {
  test("is sent the messages, its name and the key, and asked for JSON", async () => {
    expect(await ask()).toEqual({ text: '{"fine":true}', finish: "stop" });
    const [call] = server.calls;
    expect(call?.path).toBe("/v1/chat/completions");
    expect(call?.headers["authorization"]).toBe(`Bearer ${KEY}`);
    expect(call?.body).toEqual({ model: "m", messages, response_format: { type: "json_object" } });
  });

  test("is sent no key when there is none", async () => {
    await ask({ key: undefined });
    expect(server.calls[0]?.headers["authorization"]).toBeUndefined();
  });

  test("is asked without the wish for JSON when it refuses that, and from then on", async () => {
    server.behave(({ body }) =>
      "response_format" in body ? { type: "status", status: 400 } : { type: "text", text: "{}" },
    );
    const one = model();
    await one.ask(messages, new AbortController().signal);
    await one.ask(messages, new AbortController().signal);
    expect(server.calls.map(({ body }) => "response_format" in body)).toEqual([true, false, false]);
    expect(waited).toEqual([]);
  });

  test("says why it stopped, and may say nothing", async () => {
    inTurn({ type: "text", text: "{", finish: "length" });
    expect(await ask()).toEqual({ text: "{", finish: "length" });
    inTurn({ type: "tool", name: "read", arguments: "{}" });
    expect(await ask()).toEqual({ text: "", finish: "tool_calls" });
  });
});

describe("a model that is busy or fails", () => {
  test.each([429, 408, 500, 502, 503, 529])("is asked again after %i, with growing waits", async (status) => {
    inTurn({ type: "status", status }, { type: "status", status }, { type: "text", text: "{}" });
    expect((await ask()).text).toBe("{}");
    expect(waited).toEqual([1000, 2000]);
  });

  test("is given the time that it asks for", async () => {
    inTurn({ type: "status", status: 429, headers: { "retry-after": "7" } }, { type: "text", text: "{}" });
    await ask();
    expect(waited).toEqual([7000]);
  });

  test("is given up when it asks for more time than there is", async () => {
    inTurn({ type: "status", status: 429, headers: { "retry-after": "3600" } });
    expect(await problemOf(ask())).toBe("it answered 429");
    expect(server.calls).toHaveLength(1);
  });

  test("is given up after as many attempts as are allowed", async () => {
    inTurn({ type: "status", status: 503 });
    expect(await problemOf(ask({ attemptsMax: 3 }))).toBe("it answered 503");
    expect(server.calls).toHaveLength(3);
  });

  test("is asked again when it closes the connection, or breaks off", async () => {
    inTurn({ type: "drop" }, { type: "cut", text: "{" }, { type: "text", text: "{}" });
    expect((await ask()).text).toBe("{}");
    expect(server.calls).toHaveLength(3);
  });

  test("is not waited for longer than agreed", async () => {
    inTurn({ type: "silence" });
    expect(await problemOf(ask({ timeoutMs: 60, attemptsMax: 2 }))).toBe("no answer within 60 ms");
    expect(server.calls).toHaveLength(2);
  });
});

describe("a model that refuses", () => {
  test.each([401, 403, 404])("is not asked again after %i", async (status) => {
    inTurn({ type: "status", status });
    expect(await problemOf(ask())).toBe(`it answered ${status}`);
    expect(server.calls).toHaveLength(1);
  });

  test("is quoted with one word at most, since its messages repeat keys and data", async () => {
    const error = { message: `bad key ${KEY} for "the data"`, code: "invalid_api_key" };
    inTurn({ type: "status", status: 401, body: JSON.stringify({ error }) });
    expect(await problemOf(ask())).toBe("it answered 401 (invalid_api_key)");
    inTurn({ type: "status", status: 401, body: JSON.stringify({ error: { code: `no key ${KEY}`, type: "auth" } }) });
    expect(await problemOf(ask())).toBe("it answered 401 (auth)");
    inTurn({ type: "status", status: 401, body: JSON.stringify({ error: { code: "hunter_two" } }) });
    expect(await problemOf(ask({ key: "hunter_two" }))).toBe("it answered 401");
  });

  test("cannot send the key elsewhere", async () => {
    const elsewhere = await ModelServer.start(() => ({ type: "text", text: "{}" }));
    inTurn({ type: "status", status: 307, headers: { location: `${elsewhere.url}/chat/completions` } });
    expect(await problemOf(ask())).toBe("it answered 307");
    expect(elsewhere.calls).toEqual([]);
    await elsewhere.close();
  });
});

describe("an answer that is none", () => {
  test.each(["", "<html>", "null", "{}", '{"choices":[]}', '{"choices":[{"message":{"content":7}}]}'])(
    "is refused: %s",
    async (body) => {
      inTurn({ type: "raw", body });
      expect(await problemOf(ask())).toBe("what it answered is not a chat completion");
    },
  );

  test("is not read beyond its limit, and not asked for again", async () => {
    inTurn({ type: "flood", chunk: "x".repeat(65_536) });
    expect(await problemOf(ask({ answerBytesMax: 100_000 }))).toBe("its answer is larger than 100000 bytes");
    expect(server.calls).toHaveLength(1);
  });
});

describe("a call that is no longer wanted", () => {
  test("ends while the model is silent, and is not repeated", async () => {
    inTurn({ type: "silence" });
    const stop = new AbortController();
    const asked = ask({ attemptsMax: 1 }, stop.signal);
    await server.called(1);
    stop.abort();
    await expect(asked).rejects.toThrow(/abort/i);
    expect(server.calls).toHaveLength(1);
  });

  test("ends while it waits for its next attempt", async () => {
    inTurn({ type: "status", status: 503 });
    const stop = new AbortController();
    const patient = chatModel({ ...CHAT_MODEL_DEFAULTS, url: server.url, model: "m", retryMs: 30_000 });
    const asked = patient.ask(messages, stop.signal);
    await server.called(1);
    setTimeout(() => stop.abort(), 20);
    await expect(asked).rejects.toThrow(/abort/i);
  });

  test("is never made when that is known before", async () => {
    await expect(ask({}, AbortSignal.abort())).rejects.toThrow(/abort/i);
    expect(server.calls).toEqual([]);
  });
});

test("what is kept of a model shows no key", () => {
  expect(inspect(model(), { depth: 9, showHidden: true })).not.toContain(KEY);
});
