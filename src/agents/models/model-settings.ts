import { RETRY_DEFAULTS, type RetrySettings } from "../retrying.ts";

export const PROVIDERS = ["openai-compatible", "openai", "anthropic"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** The ways to ask a model for JSON: by its schema, as some JSON object, or in words alone. */
export const FORMATS = ["schema", "json", "words"] as const;
export type Format = (typeof FORMATS)[number];

/** A model and how it is asked. Holds a key: it is never shown. */
export interface ModelSettings extends RetrySettings {
  readonly provider: Provider;
  /** The provider's name in usage and prices. */
  readonly providerName: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly key?: string | undefined;
  /** For `openai` only. */
  readonly api?: "chat" | "responses" | undefined;
  readonly format: Format;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly seed?: number | undefined;
  /** Handed to the provider as they are, such as `reasoningEffort`. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** The limit of one call of an agent with all its turns and attempts. */
  readonly timeoutMs: number;
  /** The limit of text and reasoning in one turn. */
  readonly maxOutputBytes: number;
}

export const MODEL_DEFAULTS = {
  ...RETRY_DEFAULTS,
  timeoutMs: 300_000,
  maxOutputBytes: 4 * 1024 * 1024,
} as const;

/** Addresses of the providers that have exactly one. */
export const BASE_URLS: Readonly<Partial<Record<Provider, string>>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
};

/** Few compatible servers support schemas, and most support JSON. */
export const DEFAULT_FORMATS: Readonly<Record<Provider, Format>> = {
  "openai-compatible": "json",
  openai: "schema",
  anthropic: "schema",
};
