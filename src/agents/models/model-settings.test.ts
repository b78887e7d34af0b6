import { expect, test } from "vitest";
import { chosenAmong } from "./model-settings.ts";

const MODELS = new Map([
  ["small", { provider: "openai-compatible", providerName: "groq", model: "large" }],
  ["large", { provider: "openai-compatible", providerName: "local", model: "llama" }],
  ["other", { provider: "anthropic", model: "llama" }],
]);

test("a model is meant by its name in the file before what its provider calls it", () => {
  expect(chosenAmong(MODELS, { model: "large" })).toBe("large");
  expect(chosenAmong(MODELS, { model: "llama" })).toBe("large");
  expect(chosenAmong(MODELS, { model: "none" })).toBeUndefined();
});

test("a provider is meant by its kind or by its name, and a model of another one is none", () => {
  expect(chosenAmong(MODELS, { provider: "anthropic" })).toBe("other");
  expect(chosenAmong(MODELS, { provider: "openai-compatible" })).toBe("small");
  expect(chosenAmong(MODELS, { provider: "local" })).toBe("large");
  expect(chosenAmong(MODELS, { provider: "anthropic", model: "llama" })).toBe("other");
  expect(chosenAmong(MODELS, { provider: "anthropic", model: "large" })).toBeUndefined();
});
