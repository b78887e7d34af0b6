import type { Run } from "../protocol/runs/run.ts";
import type { AgentTask } from "./binding.ts";

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
  const choice = { ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }) };
  return {
    ...(Object.keys(choice).length === 0 ? {} : { choice }),
    asked: {
      ...(temperature === undefined ? {} : { temperature }),
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
