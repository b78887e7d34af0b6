import { completer } from "../../agents/models/complete.ts";
import { MODEL_DEFAULTS } from "../../agents/models/model-settings.ts";
import { packagesOfModel, requirePackages } from "../../agents/optional-packages.ts";
import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { ChatModelOf, ReviewerModel } from "../../reviews/reviewers/chat-model.ts";
import type { Environment } from "../settings/config.ts";
import { type Config, environmentNameOf, SETTINGS } from "../settings/settings.ts";

type ReviewModelConfig = Pick<
  Config,
  "reviewModel" | "reviewModelUrl" | "reviewModelKeyEnv" | "reviewModelTimeoutMs" | "reviewModelAttempts"
>;

/**
 * The model of a reviewer: its own, or that of the settings. Throws `unusable_input` where a part of its settings is missing: falling back
 * to the rule check would not be a review, and a missing key would be found only by the first review.
 */
export function reviewModelOf(config: ReviewModelConfig, env: Environment, own?: string): ReviewerModel {
  const { reviewModelUrl: url, reviewModelKeyEnv } = config;
  const model = own ?? config.reviewModel;
  if (model === undefined) {
    const setting = environmentNameOf("reviewModel");
    throw unusableInput(`a reviewer is bound to a model that is not named; set ${setting}, or write NAME=model:MODEL`);
  }
  if (url === undefined) {
    const cause = own === undefined ? "reviewModel is set" : `a reviewer is bound to the model ${own}`;
    throw unusableInput(`${cause}, but reviewModelUrl is not set; set ${environmentNameOf("reviewModelUrl")} too`);
  }
  const key = env[reviewModelKeyEnv];
  const isNamed = reviewModelKeyEnv !== SETTINGS.reviewModelKeyEnv.default;
  if (isNamed && (key === undefined || key === "")) {
    throw unusableInput(`reviewModelKeyEnv names ${reviewModelKeyEnv}, which is not in the environment`);
  }
  return {
    url,
    model,
    timeoutMs: config.reviewModelTimeoutMs,
    attemptsMax: config.reviewModelAttempts,
    ...defined({ key: key || undefined }),
  };
}

const PROVIDER = "openai-compatible";

/**
 * The client of a model. Private addresses are allowed, because the address is in the settings of this process. Throws `unusable_input` when
 * the packages for models are not installed.
 */
export const chatModelOf: ChatModelOf = ({ url, ...model }) => {
  requirePackages(packagesOfModel(PROVIDER), "a reviewer is bound to a model, which needs");
  return completer({
    ...MODEL_DEFAULTS,
    provider: PROVIDER,
    providerName: "reviewer",
    baseUrl: url.replace(/\/+$/, ""),
    format: "json",
    ...model,
  });
};
