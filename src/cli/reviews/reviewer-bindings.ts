import { resolve } from "node:path";
import { childEnvironment, programEnvironment } from "../../engine/programs/child-environment.ts";
import { type AppError, unusableInput } from "../../protocol/errors.ts";
import { DEFAULT_AGENT } from "../../reviews/reviewer.ts";
import type { ReviewerBinding } from "../../reviews/reviewers/bound-reviewer.ts";
import { type Environment, ownEnvironment } from "../settings/config.ts";
import type { WrittenReviewer } from "../settings/setting-formats.ts";
import type { Config } from "../settings/settings.ts";
import { reviewModelOf } from "../wiring/review-model.ts";

/**
 * The reviewers of a server, by name. The default agent is bound as the settings say, else to the model of the settings, else to the rule
 * check. Throws `unusable_input` for a model that lacks a setting.
 */
export function reviewerBindings(config: Config, env: Environment = ownEnvironment()): ReviewerBinding[] {
  return bindingsOf(config, env, [], servedWith);
}

/** The reviewers of one call on this machine: those of `inPlace` replace those of the settings, and programs inherit the environment. */
export function ownReviewerBindings(
  config: Config,
  env: Environment,
  inPlace: readonly WrittenReviewer[],
): ReviewerBinding[] {
  return bindingsOf(config, env, inPlace, inherited);
}

function bindingsOf(
  config: Config,
  env: Environment,
  inPlace: readonly WrittenReviewer[],
  environmentOf: EnvironmentOf,
): ReviewerBinding[] {
  const named = new Map([...config.reviewer, ...inPlace].map((one) => [one.agent, one]));
  const usual: WrittenReviewer = { agent: DEFAULT_AGENT, type: config.reviewModel === undefined ? "builtin" : "model" };
  const all = named.has(DEFAULT_AGENT) ? [...named.values()] : [usual, ...named.values()];
  return all.map((one) => bindingOf(one, config, env, environmentOf));
}

type EnvironmentOf = (config: Config, env: Environment) => Readonly<Record<string, string>>;

function bindingOf(
  written: WrittenReviewer,
  config: Config,
  env: Environment,
  environmentOf: EnvironmentOf,
): ReviewerBinding {
  const { agent } = written;
  switch (written.type) {
    case "builtin":
      return { agent, type: "builtin" };
    case "model":
      return { agent, type: "model", model: reviewModelOf(config, env, written.model) };
    case "command": {
      const { program, args } = written;
      const environment = environmentOf(config, env);
      return { agent, type: "command", command: { program, args, directory: resolve("."), environment } };
    }
  }
}

/** The environment of a reviewing program that a person starts: all variables but the keys and the database of this process. */
function inherited({ reviewModelKeyEnv, databaseUrl }: Config, env: Environment) {
  return childEnvironment(env, { names: [reviewModelKeyEnv], hasDatabase: databaseUrl !== undefined });
}

/** The environment of a reviewing program that a server starts: a few variables, and those that the setting names. */
function servedWith({ reviewerEnv = "" }: Config, env: Environment) {
  const names = reviewerEnv.split(",").flatMap((name) => name.trim() || []);
  const own = names.find((name) => /^ASSAY_/i.test(name));
  if (own !== undefined) throw unusable(`must not name ${own}, which is the host's own`);
  const seen = programEnvironment(env, names);
  if ("missing" in seen) throw unusable(`names ${seen.missing}, which the environment does not have`);
  return seen.variables;
}

function unusable(problem: string): AppError {
  return unusableInput(`--reviewer-env ${problem}`);
}
