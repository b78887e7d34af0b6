import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { llmCacheKey } from "./llm-cache-key.ts";

const call = {
  provider: "acme",
  model: "m-1",
  request: {
    messages: [{ role: "user", content: "é" }],
    tools: [{ name: "b" }, { name: "a" }],
    temperature: 0.2,
  },
};

describe("the key of a call of a model", () => {
  test("is the hash of the published recipe", () => {
    const text =
      '{"model":"m-1","provider":"acme","recipe":"openwop-semantic-request-v2","request":{"messages":[{"content":"é","role":"user"}],"temperature":0.2,"tools":[{"name":"a"},{"name":"b"}]}}';
    expect(llmCacheKey(call)).toBe(createHash("sha256").update(text).digest("hex"));
  });

  test("does not depend on how the request travels, nor on the order of members and tools", () => {
    const { request } = call;
    const travels = { ...request, stream: true, metadata: { a: 1 }, user: "ada", timeoutMs: 5 };
    const turned = { tools: [...request.tools].reverse(), temperature: 0.2, messages: request.messages };
    expect(llmCacheKey({ ...call, request: travels })).toBe(llmCacheKey(call));
    expect(llmCacheKey({ request: turned, model: "m-1", provider: "acme" })).toBe(llmCacheKey(call));
    expect(llmCacheKey({ ...request, provider: "acme", model: "m-1" })).toBe(llmCacheKey(call));
  });

  test("depends on everything that changes the answer", () => {
    const keys = [
      call,
      { ...call, model: "m-2" },
      { ...call, provider: "other" },
      { ...call, providerOptions: { effort: "high" } },
      ...["messages", "temperature", "topP", "topK", "responseFormat", "maxOutputTokens", "stop", "seed"].map(
        (name) => ({
          ...call,
          request: { ...call.request, [name]: [name] },
        }),
      ),
      { ...call, request: { ...call.request, safetySettings: {} } },
      { ...call, request: { ...call.request, tools: [{ name: "a" }] } },
    ].map(llmCacheKey);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
