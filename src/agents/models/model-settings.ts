import { RETRY_DEFAULTS, type RetrySettings } from "../retrying.ts";

export const PROVIDERS = ["openai-compatible", "openai", "anthropic"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** How a model is asked for JSON: by its schema, as some JSON object, or in words alone. */
export const FORMATS = ["schema", "json", "words"] as const;
export type Format = (typeof FORMATS)[number];

/** A model and how it is asked. Holds a key: it is never shown. */
export interface ModelSettings extends RetrySettings {
  readonly provider: Provider;
  /** What usage and prices call the provider. */
  readonly providerName: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly key?: string | undefined;
  /** Of `openai` alone. */
  readonly api?: "chat" | "responses" | undefined;
  readonly format: Format;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly seed?: number | undefined;
  /** Handed to the provider as they are, such as `reasoningEffort`. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** For one call of an agent with all its turns and attempts. */
  readonly timeoutMs: number;
  /** Of what it says and thinks in one turn. */
  readonly maxOutputBytes: number;
}

export const MODEL_DEFAULTS = {
  ...RETRY_DEFAULTS,
  timeoutMs: 300_000,
  maxOutputBytes: 4 * 1024 * 1024,
} as const;

/** Where the providers with one address serve. */
export const BASE_URLS: Readonly<Partial<Record<Provider, string>>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
};

/** Of many servers of the compatible kind few know schemas, and most know JSON. */
export const DEFAULT_FORMATS: Readonly<Record<Provider, Format>> = {
  "openai-compatible": "json",
  openai: "schema",
  anthropic: "schema",
};
