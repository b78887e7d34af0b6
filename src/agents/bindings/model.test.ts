import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { toolsOf, watched } from "../../testing/agent-task.ts";
import { MODEL_KEY, ModelAgent } from "../../testing/model-agent.ts";
import { chatStream } from "../../testing/model-streams.ts";

const agent = new ModelAgent();

describe("a model", () => {
  test("is given the system prompt, what the agent remembers, and the input as the user's message", async () => {
    const memory = [{ id: "m1", content: "likes tea", tags: ["x"], createdAt: "2026-01-01T00:00:00Z" }];
    await agent.ask(
      { temperature: 0.2, maxOutputTokens: 50, seed: 7 },
      { systemPrompt: "be brief", input: { a: 1 }, memory },
    );
    const [call] = agent.server.calls;
    expect(call?.path).toBe("/v1/chat/completions");
    expect(call?.headers["authorization"]).toBe(`Bearer ${MODEL_KEY}`);
    expect(call?.body).toMatchObject({ model: "m", temperature: 0.2, max_tokens: 50, seed: 7, stream: true });
    expect(call?.system).toBe("be brief");
    expect(call?.messages.map(({ role }) => role)).toEqual(["system", "user", "user"]);
    expect(JSON.stringify(call?.messages[1])).toContain("likes tea");
    expect(call?.user).toBe('{"a":1}');
  });

  test("is given a text as it is, and no system message when there is none", async () => {
    await agent.ask({}, { input: "hello" });
    expect(agent.server.calls[0]?.messages).toEqual([{ role: "user", content: "hello" }]);
  });

  test("answers with text, told while it comes, with what it thinks and what it used", async () => {
    agent.inTurn({ reasoning: ["hm", "m"], text: ["for", "ty", "-two"], inputTokens: 1000, outputTokens: 100 });
    expect(await agent.ask()).toEqual({
      answer: { type: "completed", output: "forty-two" },
      chunks: ["for", "ty", "-two"],
      reasoning: ["hm", "m"],
      usage: [{ provider: "local", model: "m", inputTokens: 1000, outputTokens: 100, costUsd: 0.002 }],
      again: 0,
    });
  });

  test("has no cost where no price is known or nothing is told of what was used, unless it is free", async () => {
    agent.inTurn({ text: ["x"] });
    const { usage } = await agent.ask({ model: "other" });
    expect(usage).toEqual([{ provider: "local", model: "other", inputTokens: 100, outputTokens: 20 }]);
    agent.inTurn({ text: ["x"], unmetered: true });
    const nothing = { provider: "local", model: "m", inputTokens: 0, outputTokens: 0 };
    expect((await agent.ask()).usage).toEqual([nothing]);
    agent.inTurn({ text: ["x"], unmetered: true });
    expect((await agent.ask({ model: "free" })).usage).toEqual([{ ...nothing, model: "free", costUsd: 0 }]);
  });

  test("has a fingerprint that follows from what is asked for, not from the key", () => {
    expect(agent.binding().fingerprint).toBe(agent.binding({ key: "another", timeoutMs: 5 }).fingerprint);
    expect(agent.binding().fingerprint).not.toBe(agent.binding({ temperature: 1 }).fingerprint);
    expect(inspect(agent.binding(), { depth: 9, showHidden: true })).not.toContain(MODEL_KEY);
  });
});

describe("a model that is to answer by a schema", () => {
  const returnSchema = {
    type: "object",
    properties: { label: { type: "string" }, confidence: { type: "number" } },
    required: ["label"],
  };
  const format = (i = 0) => agent.server.calls[i]?.body["response_format"] as { type?: string } | undefined;

  test("answers with JSON, and how sure it is where the schema asks", async () => {
    const reply = { text: ['{"label":"a",', '"confidence":0.4}'] };
    const output = { label: "a", confidence: 0.4 };
    expect(await agent.answerTo(reply, {}, { returnSchema })).toEqual({ type: "completed", output, confidence: 0.4 });
    expect(format()).toEqual({ type: "json_object" });
    expect(agent.server.calls[0]?.system).toContain(JSON.stringify(returnSchema));
    const plain = { type: "object", properties: { label: {} } };
    expect(await agent.answerTo(reply, {}, { returnSchema: plain })).toEqual({ type: "completed", output });
    for (const choice of [{ anyOf: [plain, returnSchema] }, { oneOf: [returnSchema] }]) {
      const answer = await agent.answerTo(reply, {}, { returnSchema: choice });
      expect(answer).toEqual({ type: "completed", output, confidence: 0.4 });
    }
    expect(await agent.answerTo(reply, {}, { returnSchema: { anyOf: [plain] } })).toEqual({
      type: "completed",
      output,
    });
  });

  test("is given the schema itself where its server knows schemas", async () => {
    await agent.answerTo({ text: ['{"label":"a"}'] }, { format: "schema" }, { returnSchema });
    expect(format()).toMatchObject({ type: "json_schema", json_schema: { schema: returnSchema } });
    expect(agent.server.calls[0]?.system).toBe("");
  });

  test("is asked in words for what is no object", async () => {
    const schema = { type: "array", items: { type: "integer" } };
    const answer = await agent.answerTo(
      { text: ["```json\n[1, 2]\n```"] },
      { format: "schema" },
      { returnSchema: schema },
    );
    expect(answer).toEqual({ type: "completed", output: [1, 2], recovered: "markdown-fence" });
    expect(format()).toBeUndefined();
  });

  test("is asked in words by a server that refuses the wish, once and for all", async () => {
    agent.server.behave((call) =>
      "response_format" in call.body ? { type: "status", status: 400 } : chatStream({ text: ['{"label":"a"}'] }),
    );
    const one = agent.binding();
    expect((await watched(one, { returnSchema })).answer).toMatchObject({ output: { label: "a" } });
    expect((await watched(one, { returnSchema })).answer).toMatchObject({ output: { label: "a" } });
    expect(agent.server.calls.map(({ body }) => "response_format" in body)).toEqual([true, false, false]);
  });

  test("has failed when it answers with anything else", async () => {
    const error = (instead?: string) => ({
      error: { code: "agent_output_invalid", retryable: false, ...(instead === undefined ? {} : { instead }) },
    });
    expect(await agent.answerTo({ text: ["sorry"] }, {}, { returnSchema })).toMatchObject(error("prose"));
    const broken = await agent.answerTo({ text: [' {"label"'] }, {}, { returnSchema });
    expect(broken).toMatchObject(error());
    expect(broken).not.toHaveProperty("error.instead");
  });
});

describe("a model with tools", () => {
  const tools = [
    { name: "host:add", description: "Adds.", inputSchema: { type: "object", properties: { a: { type: "number" } } } },
    { name: "mcp:files.read" },
  ];
  const surface = () => toolsOf(tools, (name) => ({ status: "ok", outcome: { from: name } }));

  test("is told of them by names it can say, and what it asks for is called in turn", async () => {
    agent.inTurn(
      {
        text: ["let me see"],
        calls: [
          { name: "host_add", args: '{"a":1}' },
          { name: "mcp_files_read", args: "{}" },
        ],
      },
      { text: ["done"] },
    );
    const { surface: allowed, asked } = surface();
    const { answer, usage, chunks } = await agent.ask({}, { tools: allowed });
    expect(answer).toEqual({ type: "completed", output: "done" });
    expect(chunks).toEqual(["let me see", "done"]);
    expect(usage).toHaveLength(2);
    expect(asked).toEqual([
      { name: "host:add", args: { a: 1 } },
      { name: "mcp:files.read", args: {} },
    ]);
    const offered = agent.server.calls[0]?.body["tools"] as { function: { name: string; parameters: unknown } }[];
    expect(offered.map((one) => one.function.name)).toEqual(["host_add", "mcp_files_read"]);
    expect(offered[0]?.function).toMatchObject({ description: "Adds.", parameters: tools[0]?.inputSchema });
    const results = agent.server.calls[1]?.messages.filter(({ role }) => role === "tool") as unknown[];
    expect(results).toMatchObject([
      { tool_call_id: "call_0", content: '{"from":"host:add"}' },
      { tool_call_id: "call_1", content: '{"from":"mcp:files.read"}' },
    ]);
  });

  test("that asks for one it does not have asks the surface, and is told that it may not", async () => {
    agent.inTurn({ calls: [{ name: "shell", args: '{"cmd":"rm"}' }] }, { text: ["then not"] });
    const { surface: allowed, asked } = surface();
    const { answer } = await agent.ask({}, { tools: allowed });
    expect(answer).toMatchObject({ output: "then not" });
    expect(asked).toEqual([{ name: "shell", args: { cmd: "rm" } }]);
    expect(JSON.stringify(agent.server.calls[1]?.messages)).toContain("forbidden: shell is not allowed");
  });

  test("that writes arguments nobody can read is told so, and the tool is not called", async () => {
    agent.inTurn({ calls: [{ name: "host_add", args: '{"a":' }] }, { text: ["again"] });
    const { surface: allowed, asked } = surface();
    expect((await agent.ask({}, { tools: allowed })).answer).toMatchObject({ output: "again" });
    expect(asked).toEqual([]);
    expect(JSON.stringify(agent.server.calls[1]?.messages)).toContain("the arguments are not JSON");
  });

  test("that never comes to an end is stopped", async () => {
    agent.inTurn({ calls: [{ name: "host_add", args: "{}" }] });
    expect((await agent.ask({ maxTurns: 3 }, { tools: surface().surface })).answer).toMatchObject({
      error: { code: "agent_error", message: "m: it has not answered within 3 turns", retryable: false },
    });
    expect(agent.server.calls).toHaveLength(3);
  });
});

describe("a model that declines", () => {
  test.each([
    [{ refusal: "I cannot help with that." }, "I cannot help with that."],
    [{ finish: "content_filter" }, "the provider withheld the answer"],
  ])("has refused: %j", async (reply, reason) => {
    expect(await agent.answerTo(reply)).toEqual({ type: "refused", reason });
  });
});
