import { defined } from "../../protocol/defined.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { AgentTask } from "../binding.ts";
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

export const MODEL_DEFAULTS = { ...RETRY_DEFAULTS, timeoutMs: 300_000, maxOutputBytes: 4 * 1024 * 1024 } as const;

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

/** Selects a model of the agents file by its name there, by its provider's name for it, or by its provider alone. */
export interface ModelChoice {
  readonly provider?: string;
  readonly model?: string;
}

/** A run's settings for its models, instead of the configured ones. */
export interface ModelWishes {
  readonly choice?: ModelChoice;
  readonly asked: Pick<AgentTask, "temperature" | "outputBudget">;
  /** Whether the run requires a key of its own; the host supports none. */
  readonly bringsKey: boolean;
}

/** Settings were checked when the run was created. */
export function wishesOf({ configurable = {} }: Pick<Run, "configurable">): ModelWishes {
  const { ai = {}, model: plain, temperature, maxTokens } = configurable as Wished;
  const { provider, credentialRef } = ai;
  const model = ai.model ?? (provider === undefined ? plain : undefined);
  const choice = defined({ provider, model });
  return {
    ...(Object.keys(choice).length === 0 ? {} : { choice }),
    asked: {
      ...defined({ temperature }),
      ...(maxTokens === undefined ? {} : { outputBudget: { tokens: maxTokens, times: 1 } }),
    },
    bringsKey: credentialRef !== undefined,
  };
}

interface Wished {
  readonly ai?: ModelChoice & { readonly credentialRef?: string };
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
}

interface Named {
  readonly provider: string;
  readonly providerName?: string;
  readonly model: string;
}

/** The name of the first that is meant; undefined where none is. */
export function chosenAmong(models: ReadonlyMap<string, Named>, { provider, model }: ModelChoice): string | undefined {
  const isOf = (one: Named) => provider === undefined || one.provider === provider || one.providerName === provider;
  const all = [...models].filter(([, one]) => isOf(one));
  if (model === undefined) return all[0]?.[0];
  return (all.find(([name]) => name === model) ?? all.find(([, one]) => one.model === model))?.[0];
}
