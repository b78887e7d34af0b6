import type { LanguageModel } from "ai";
import { defined } from "../../protocol/defined.ts";
import type { ModelSettings } from "./model-settings.ts";

/**
 * The model as the AI SDK has it. Its packages are loaded when they are needed: most of what Assay does needs none of them. Keys and
 * addresses are always given, since the packages would look for them in the environment otherwise.
 */
export async function languageModel(settings: ModelSettings, fetch: typeof globalThis.fetch): Promise<LanguageModel> {
  const { provider, providerName, baseUrl: baseURL, model, key, format } = settings;
  const common = { baseURL, fetch };
  switch (provider) {
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({
        ...common,
        name: providerName,
        includeUsage: true,
        supportsStructuredOutputs: format === "schema",
        ...defined({ apiKey: key }),
      })(model);
    }
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const openai = createOpenAI({ ...common, apiKey: key ?? "" });
      return settings.api === "chat" ? openai.chat(model) : openai.responses(model);
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ ...common, apiKey: key ?? "" })(model);
    }
  }
}

/** Options under the name that the provider's package reads. */
export function providerOptions({ provider, providerName, options = {} }: ModelSettings) {
  switch (provider) {
    case "openai-compatible":
      return { [providerName]: options };
    case "openai":
      // Schemas written by people are seldom in the subset of strict mode.
      return { openai: { strictJsonSchema: false, ...options } };
    case "anthropic":
      return { anthropic: options };
  }
}
