import { resolve } from "node:path";
import { childEnvironment } from "../engine/programs/child-environment.ts";
import { DEFAULT_AGENT } from "../reviews/reviewer.ts";
import type { ReviewerBinding } from "../reviews/reviewers/bound-reviewer.ts";
import { type Environment, ownEnvironment } from "./config.ts";
import type { Config } from "./settings.ts";
import { reviewModelOf } from "./wiring/review-model.ts";
import type { WrittenReviewer } from "./written-reviewer.ts";

/**
 * Who reviews, by name. The name that is always known is bound to what settings say, else to the model where there is one, else to the
 * built-in rules. Throws `unusable_input` when a model is bound that is not known well enough to be asked.
 */
export function reviewerBindings(
  config: Config,
  env: Environment = ownEnvironment(),
  inPlace: readonly WrittenReviewer[] = [],
): ReviewerBinding[] {
  const named = new Map([...config.reviewer, ...inPlace].map((one) => [one.agent, one]));
  const usual: WrittenReviewer = { agent: DEFAULT_AGENT, type: config.reviewModel === undefined ? "builtin" : "model" };
  const all = named.has(DEFAULT_AGENT) ? [...named.values()] : [usual, ...named.values()];
  return all.map((one) => bindingOf(one, config, env));
}

function bindingOf(written: WrittenReviewer, config: Config, env: Environment): ReviewerBinding {
  const { agent } = written;
  switch (written.type) {
    case "builtin":
      return { agent, type: "builtin" };
    case "model":
      return { agent, type: "model", model: reviewModelOf(config, env, written.model) };
    case "command": {
      const { program, args } = written;
      const { reviewModelKeyEnv, databaseUrl } = config;
      const ours = { names: [reviewModelKeyEnv], hasDatabase: databaseUrl !== undefined };
      const environment = childEnvironment(env, ours);
      return { agent, type: "command", command: { program, args, directory: resolve("."), environment } };
    }
  }
}
