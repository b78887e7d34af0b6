import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { toolsOf, watched } from "../../testing/agent-task.ts";
import { type ModelReply, ModelServer } from "../../testing/model-server.ts";
import { chatStream, messagesStream, responsesStream, type SaidTurn } from "../../testing/model-streams.ts";
import type { AgentTask } from "../binding.ts";
import { modelBinding } from "../bindings/model.ts";
import { MODEL_DEFAULTS, type ModelSettings } from "./model-settings.ts";
import { PRICES } from "./prices.ts";

const KEY = "sk-not-for-anybody-else";

let server: ModelServer;
beforeEach(async () => {
  server = await ModelServer.start(() => ({ type: "silence" }));
  // What their packages would look at by themselves.
  for (const name of ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]) {
    vi.stubEnv(name, "http://127.0.0.1:1/not-asked-for");
  }
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

interface Wire {
  readonly settings: Pick<ModelSettings, "provider" | "providerName" | "model" | "api" | "format">;
  readonly say: (said: SaidTurn) => ModelReply;
  readonly path: string;
  /** Of 1000 tokens in, 500 of them cached, and 100 out. */
  readonly costUsd: number;
}

const wires: readonly (readonly [string, Wire])[] = [
  [
    "OpenAI by chat completions",
    {
      settings: {
        provider: "openai",
        providerName: "openai",
        model: "gpt-4o-2024-08-06",
        api: "chat",
        format: "schema",
      },
      say: chatStream,
      path: "/v1/chat/completions",
      costUsd: (500 * 2.5 + 500 * 1.25 + 100 * 10) / 1e6,
    },
  ],
  [
    "OpenAI by responses",
    {
      settings: { provider: "openai", providerName: "openai", model: "gpt-4.1", api: "responses", format: "schema" },
      say: responsesStream,
      path: "/v1/responses",
      costUsd: (500 * 2 + 500 * 0.5 + 100 * 8) / 1e6,
    },
  ],
  [
    "Anthropic",
    {
      settings: {
        provider: "anthropic",
        providerName: "anthropic",
        model: "claude-sonnet-4-5-20250929",
        api: undefined,
        format: "schema",
      },
      say: messagesStream,
      path: "/v1/messages",
      costUsd: (500 * 3 + 500 * 0.3 + 100 * 15) / 1e6,
    },
  ],
];

describe.each<readonly [string, Wire]>([
  [
    "a compatible server",
    {
      settings: {
        provider: "openai-compatible",
        providerName: "openai",
        model: "gpt-4o",
        api: undefined,
        format: "schema",
      },
      say: chatStream,
      path: "/v1/chat/completions",
      costUsd: (500 * 2.5 + 500 * 1.25 + 100 * 10) / 1e6,
    },
  ],
  ...wires,
])("a model of %s", (_, { settings, say, path, costUsd }) => {
  const ask = (task: Partial<AgentTask> = {}) =>
    watched(
      modelBinding({ ...MODEL_DEFAULTS, ...settings, baseUrl: server.url, key: KEY, maxTurns: 3 }, [PRICES], {
        now: () => 0,
        chance: () => 0,
        wait: async () => {},
      }),
      task,
    );

  test("answers, with what it used and what that costs, and has the key that it was given", async () => {
    server.behave(() => say({ text: ["for", "ty"], inputTokens: 1000, cachedTokens: 500, outputTokens: 100 }));
    const { answer, chunks, usage } = await ask({ systemPrompt: "be brief" });
    expect(answer).toEqual({ type: "completed", output: "forty" });
    expect(chunks.join("")).toBe("forty");
    const { providerName: provider, model } = settings;
    const tokens = { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 500 };
    expect(usage).toEqual([{ provider, model, ...tokens, costUsd: expect.closeTo(costUsd, 12) }]);
    const [call] = server.calls;
    expect(call?.path).toBe(path);
    expect(call?.headers["authorization"] ?? call?.headers["x-api-key"]).toContain(KEY);
    expect(JSON.stringify(call?.body)).toContain("be brief");
  });

  test("calls several tools in one turn and goes on with what they give", async () => {
    const calls = [
      { name: "host_add", args: '{"a":1}' },
      { name: "host_add", args: '{"a":2}' },
    ];
    server.behave((_call, { length }) => (length === 1 ? say({ calls }) : say({ text: ["done"] })));
    const { surface, asked } = toolsOf([{ name: "host:add" }], () => ({ status: "ok", outcome: { sum: 12345 } }));
    expect((await ask({ tools: surface })).answer).toEqual({ type: "completed", output: "done" });
    expect(asked.map(({ args }) => args)).toEqual([{ a: 1 }, { a: 2 }]);
    expect(JSON.stringify(server.calls[1]?.body).match(/12345/g)).toHaveLength(2);
  });

  test("answers by a schema", async () => {
    server.behave(() => say({ text: ['{"label":"a"}'] }));
    const returnSchema = {
      type: "object",
      properties: { label: { type: "string" } },
      required: ["label"],
      additionalProperties: false,
    };
    expect((await ask({ returnSchema })).answer).toEqual({ type: "completed", output: { label: "a" } });
    expect(JSON.stringify(server.calls[0]?.body)).toContain("json_schema");
  });

  test("has not answered before it says that it has", async () => {
    const reply = say({ text: ["half of it"] });
    if (reply.type !== "raw") throw new Error("no stream");
    const events = reply.body.split("\n\n");
    const spoken = events.findIndex((event) => event.includes("half of it"));
    server.behave(() => ({ ...reply, body: `${events.slice(0, spoken + 1).join("\n\n")}\n\n` }));
    expect((await ask()).answer).toMatchObject({
      error: { code: "agent_unreachable", message: expect.stringContaining("its answer broke off"), retryable: true },
    });
    expect(server.calls).toHaveLength(4);
  });

  test("is asked again when it is busy, and given up after that", async () => {
    server.behave((_call, { length }) => (length < 3 ? { type: "status", status: 529 } : say({ text: ["there"] })));
    expect((await ask()).answer).toEqual({ type: "completed", output: "there" });
    server.behave(() => ({ type: "status", status: 429 }));
    expect((await ask()).answer).toMatchObject({ error: { code: "agent_rate_limited" } });
  });
});

test("a model of Anthropic thinks, and may refuse", async () => {
  const binding = modelBinding(
    {
      ...MODEL_DEFAULTS,
      provider: "anthropic",
      providerName: "anthropic",
      model: "claude-haiku-4-5",
      format: "schema",
      baseUrl: server.url,
      key: KEY,
      maxTurns: 1,
    },
    [PRICES],
  );
  server.behave(() => messagesStream({ reasoning: ["hm", "m"], text: ["no"] }));
  expect((await watched(binding)).reasoning).toEqual(["hm", "m"]);
  server.behave(() => messagesStream({ text: ["I would rather not."], finish: "refusal" }));
  expect((await watched(binding)).answer).toEqual({ type: "refused", reason: "I would rather not." });
});
