import { AppError } from "../../protocol/errors.ts";
import type { ReviewerModel } from "../../reviews/reviewers/bound-reviewer.ts";
import type { Environment } from "../config.ts";
import { type Config, environmentNameOf, SETTINGS } from "../settings.ts";

type ReviewModelConfig = Pick<
  Config,
  "reviewModel" | "reviewModelUrl" | "reviewModelKeyEnv" | "reviewModelTimeoutMs" | "reviewModelAttempts"
>;

/**
 * The model that configuration binds the reviewer to, undefined when it binds it to none. Throws `unusable_input` when it does so by half:
 * the rules in its place would review something else than was asked for, and a missing key shows late and far away.
 */
export function reviewModelOf(config: ReviewModelConfig, env: Environment): ReviewerModel | undefined {
  const { reviewModel: model, reviewModelUrl: url, reviewModelKeyEnv } = config;
  if (model === undefined) return undefined;
  if (url === undefined) {
    const problem = `reviewModel is set but reviewModelUrl is not; set ${environmentNameOf("reviewModelUrl")} too`;
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
