import { completer } from "../../agents/models/complete.ts";
import { MODEL_DEFAULTS } from "../../agents/models/model-settings.ts";
import { packagesOfModel, requirePackages } from "../../agents/optional-packages.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ChatModelOf, ReviewerModel } from "../../reviews/reviewers/chat-model.ts";
import type { Environment } from "../settings/config.ts";
import { type Config, environmentNameOf, SETTINGS } from "../settings/settings.ts";

type ReviewModelConfig = Pick<
  Config,
  "reviewModel" | "reviewModelUrl" | "reviewModelKeyEnv" | "reviewModelTimeoutMs" | "reviewModelAttempts"
>;

/**
 * The model that a reviewer is bound to: one of its own, or that of the settings. Throws `unusable_input` when it is known by half: the
 * rules in its place would review something else than was asked for, and a missing key shows late and far away.
 */
export function reviewModelOf(config: ReviewModelConfig, env: Environment, own?: string): ReviewerModel {
  const { reviewModelUrl: url, reviewModelKeyEnv } = config;
  const model = own ?? config.reviewModel;
  if (model === undefined) {
    const problem = `a reviewer is bound to a model that is not named; set ${environmentNameOf("reviewModel")}, or write NAME=model:MODEL`;
    throw new AppError("unusable_input", { problem });
  }
  if (url === undefined) {
    const named = own === undefined ? "reviewModel is set" : `the model ${own} is to review`;
    const problem = `${named} but reviewModelUrl is not${own === undefined ? "" : " set"}; set ${environmentNameOf("reviewModelUrl")} too`;
    throw new AppError("unusable_input", { problem });
  }
  const key = env[reviewModelKeyEnv];
  const isNamed = reviewModelKeyEnv !== SETTINGS.reviewModelKeyEnv.default;
  if (isNamed && (key === undefined || key === "")) {
    const problem = `reviewModelKeyEnv names ${reviewModelKeyEnv}, which is not in the environment`;
    throw new AppError("unusable_input", { problem });
  }
  return {
    url,
    model,
    timeoutMs: config.reviewModelTimeoutMs,
    attemptsMax: config.reviewModelAttempts,
    ...(key === undefined || key === "" ? {} : { key }),
  };
}

const PROVIDER = "openai-compatible";

/**
 * Models are asked in the one way there is. Whoever runs this process named the address, so one on this very machine will do too. Throws
 * `unusable_input` when the packages that ask models are not installed.
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
