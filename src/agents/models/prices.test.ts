import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { costOf, PRICES, PRICES_AS_OF, priceOf } from "./prices.ts";

describe("the price of a model", () => {
  test("is that of its provider, also under a dated name", () => {
    expect(priceOf("openai", "gpt-4o")).toEqual({ input: 2.5, output: 10, cacheRead: 1.25 });
    expect(priceOf("openai", "gpt-4o-2024-08-06")).toEqual(priceOf("openai", "gpt-4o"));
    expect(priceOf("openai", "gpt-4o-2024-05-13")).toEqual({ input: 5, output: 15 });
    expect(priceOf("anthropic", "claude-haiku-4-5-20251001")).toEqual(priceOf("anthropic", "claude-haiku-4-5"));
  });

  test("is not known of what nobody listed, nor of the same model served by somebody else", () => {
    expect(priceOf("openai", "gpt-99")).toBeUndefined();
    expect(priceOf("local", "gpt-4o")).toBeUndefined();
    expect(priceOf("openai", "toString")).toBeUndefined();
  });

  test("is that of the first table that has one, by provider and model or by model alone", () => {
    const own = { "openai/gpt-4o": { input: 1, output: 1 }, llama: { input: 2, output: 2 } };
    expect(priceOf("openai", "gpt-4o", [own, PRICES])).toEqual({ input: 1, output: 1 });
    expect(priceOf("local", "llama", [own, PRICES])).toEqual({ input: 2, output: 2 });
    expect(priceOf("openai", "o3", [own, PRICES])).toEqual(PRICES["openai/o3"]);
  });

  test("has a date, which the guide tells", () => {
    expect(new Date(PRICES_AS_OF).toISOString().slice(0, 10)).toBe(PRICES_AS_OF);
    const guide = readFileSync(new URL("../../../docs/agents.md", import.meta.url), "utf8");
    expect(guide).toContain(`as they were on ${PRICES_AS_OF}`);
  });
});

describe("the cost of a call", () => {
  const tokens = { inputTokens: 1_000_000, outputTokens: 100_000 };

  test("is counted by the million", () => {
    expect(costOf({ input: 2, output: 10 }, tokens)).toBe(3);
  });

  test("counts cached input at its own price, or like any other where that is not known", () => {
    const cached = { ...tokens, cacheReadTokens: 500_000, cacheWriteTokens: 100_000 };
    expect(costOf({ input: 2, output: 10, cacheRead: 0.2, cacheWrite: 4 }, cached)).toBeCloseTo(
      0.8 + 0.1 + 0.4 + 1,
      12,
    );
    expect(costOf({ input: 2, output: 10 }, cached)).toBeCloseTo(3, 12);
  });
});
